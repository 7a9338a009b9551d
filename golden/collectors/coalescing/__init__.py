"""Collector units that read two sources at once and unpack them (docs/schemes/corf.md, section 9)."""
