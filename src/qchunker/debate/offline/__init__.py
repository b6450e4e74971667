"""The four roles by rules: no language model, no network, the same bytes every time."""
