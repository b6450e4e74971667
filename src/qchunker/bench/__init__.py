"""The bench: is one way of chunking better than another, on which data, and how sure is that?"""
