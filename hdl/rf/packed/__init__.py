"""Banks in which narrow values share rows, behind a renaming table (docs/schemes/corf.md)."""
