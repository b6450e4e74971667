"""Detectors of missing knowledge: one module per kind, or per family of kinds that share their evidence."""
