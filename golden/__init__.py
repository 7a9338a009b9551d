"""Cycle models of the machine, one folder per part, written from docs/machine.md."""

from warpfile.golden.machine import Machine
from warpfile.golden.operands import StaleOperand

__all__ = ["Machine", "StaleOperand"]
