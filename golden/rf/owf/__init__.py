"""Register file in which two CTAs share a part of their registers (docs/schemes/owf.md)."""
