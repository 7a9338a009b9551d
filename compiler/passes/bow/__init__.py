"""Write classes of results (docs/schemes/bow.md)."""
