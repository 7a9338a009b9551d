"""Control codes, operand positions and beats of the read window (docs/schemes/modern.md)."""
