"""Locality-aware scheduler (docs/schemes/larf.md, section 19)."""
