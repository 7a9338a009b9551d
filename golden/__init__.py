"""Cycle models of the machine, one file per mechanism, written from docs/machine.md."""

from golden.baseline import Baseline
from golden.operands import StaleOperand

__all__ = ["Baseline", "StaleOperand"]
