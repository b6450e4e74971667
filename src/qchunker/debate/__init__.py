"""Chunking as a debate of four roles: outline, segment, review, complete.

``roles.py`` says what each of them is, ``offline/`` plays them by rules, ``workflow.py`` runs them in order.

Source: QChunker 3.1 and 3.2.
"""
