"""A cache that is filled interval by interval, in front of slow banks (docs/schemes/ltrf.md)."""
