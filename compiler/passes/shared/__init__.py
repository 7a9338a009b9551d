"""Pass of ``shared``: what accesses do to memory, and which of them race (docs/schemes/larf.md, sections 14, 15)."""
