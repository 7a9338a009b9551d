"""Banks alone: every register lives at its warp's base and its number."""
