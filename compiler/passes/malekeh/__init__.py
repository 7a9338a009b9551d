"""Reuse distances and near bits (docs/schemes/malekeh.md)."""
