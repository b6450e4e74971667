"""ChunkScore: how good a partition is, without a question and without an answer.

    perplexity > logical_independence, semantic_dispersion > chunkscore (raw, and corrected by random_partitions)

Every formula has an id, its source and its test in docs/equations.md.
"""
