"""``python -m qchunker``."""

from qchunker.cli import main

main()
