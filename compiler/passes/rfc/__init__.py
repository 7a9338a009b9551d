"""Dead values, strands and suspensions (docs/schemes/rfc.md)."""
