"""Register file ``ported`` (docs/schemes/modern.md, section 10)."""
