"""Units that forward results and keep operands (docs/schemes/sticky.md)."""
