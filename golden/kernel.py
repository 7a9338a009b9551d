"""Kernel, pseudo-instructions and sweeps: what only some register files take part in (docs/slots/rf.md)."""

from __future__ import annotations

from warpfile.golden.rf.contract import KernelFile
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus


class KernelPorts:
    """Calls of a register file that need not be there; ``begin`` over registered state, ``end`` after its edge."""

    def __init__(self, cfg: Config, layout: ProbeLayout, file: KernelFile) -> None:
        self._file = file
        at = layout.offset
        self._at_quiet, self._at_kernel, self._at_retired = (at.get(name, 0) for name in ("quiet", "kernel", "retired"))
        self._handshake, self._sweeps = cfg.gives.kernel, cfg.gives.sweeps
        self._operands = cfg.operand_bits

    def begin(self, stimulus: Stimulus) -> int:
        """Probes of the handshake."""
        file, word = self._file, 0
        if self._handshake:
            word = file.quiet << self._at_quiet
            kernel = stimulus.kernel
            if kernel is not None and file.kernel_ready:
                file.kernel(kernel)
                word |= 1 << self._at_kernel
        if self._operands and stimulus.operand is not None:
            file.operand(stimulus.operand)
        return word

    def end(self) -> int:
        """Warps that are gone for good."""
        return self._file.retired << self._at_retired if self._sweeps else 0
