"""Pairs by rules: few, but every answer is a stretch of the document, word for word."""
