"""Which eligible warp issues."""
