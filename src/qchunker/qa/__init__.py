"""Question-answer pairs of documents: complete, grounded in the text, without duplicates (GC-QA-RAG)."""
