"""Data sets with documents and questions, one file each."""
