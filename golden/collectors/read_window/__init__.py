"""Collectors ``read_window`` (docs/schemes/modern.md)."""
