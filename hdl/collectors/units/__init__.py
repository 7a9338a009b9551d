"""Collector units that hold the operands of one beat."""
