"""Which registers of a warp are private, and how many CTAs share (docs/schemes/owf.md, section 10)."""
