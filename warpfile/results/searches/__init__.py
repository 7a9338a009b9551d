"""A search: all combinations of parts that fit, in several sizes, in one machine (docs/search.md)."""
