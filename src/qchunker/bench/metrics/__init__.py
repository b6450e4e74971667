"""One file per metric; each says where it comes from, and tokenises as its signature says."""
