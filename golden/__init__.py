"""Cycle models of the machine, one file per mechanism, written from docs/machine.md."""

from warpfile.golden.collectors.units.stage import Baseline
from warpfile.golden.operands import StaleOperand

__all__ = ["Baseline", "StaleOperand"]
