"""Scheduler that prefers warps that own shared registers (docs/schemes/owf.md, section 8)."""
