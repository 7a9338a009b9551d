"""Synthesizable Amaranth of the machine: frame, scheduler slot, collector slot, register file slot."""
