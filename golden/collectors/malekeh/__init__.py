"""Caching collector units (docs/schemes/malekeh.md)."""
