"""Wires of a timed netlist: placed, with resistance and capacitance, repeaters and new sizes (docs/wires.md)."""
