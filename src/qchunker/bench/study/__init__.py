"""Which number of a chunking, made without any question, tells how well it will be found? ChunkScore and others."""
