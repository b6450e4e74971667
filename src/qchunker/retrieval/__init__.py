"""From the scores of several retrievers to one list of hits: fusion, and diversity."""
