"""Register file in which registers with the same loaded words share a row (docs/schemes/larf.md)."""
