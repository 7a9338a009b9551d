"""Two-level scheduler: places for active warps."""
