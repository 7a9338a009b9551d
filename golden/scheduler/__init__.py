"""Which eligible warp issues, one part per policy."""
