"""Which registers should share a row, or have which side of one (docs/schemes/corf.md, section 15)."""
