"""Register file whose registers with one word in all live lanes are in banks of words (docs/schemes/scalar.md)."""
