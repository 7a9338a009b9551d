"""Base and extended sets, ACQ and REL, for the pool of extended registers."""
