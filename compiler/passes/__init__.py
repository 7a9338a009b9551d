"""Annotation passes, one folder per scheme."""
