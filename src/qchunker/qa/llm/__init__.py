"""Pairs from a language model: asked group by group, believed in nothing."""
