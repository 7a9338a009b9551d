"""Levels of operands and results: strands, values, and the entries that they get."""
