"""Indexes over chunks: the tokens of their texts, and exact BM25 over them."""
