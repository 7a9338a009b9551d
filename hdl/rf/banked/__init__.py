"""Banks; a register's place is its warp's base and its number (docs/machine.md, sections 5 to 7)."""
