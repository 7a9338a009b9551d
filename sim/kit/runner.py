"""Builds a user's design and runs a cocotb module on it, with the simulators that the lockstep uses."""

from __future__ import annotations

import os
import xml.etree.ElementTree as xml
from collections.abc import Mapping, Sequence
from pathlib import Path

import warpfile.sim.simulators as simulators
from warpfile.sim.simulators import SimulatorError

#: What the failures of cocotb's tests are called in its report.
_FAILED = ("failure", "error")


def run(
    simulator: str,
    sources: Sequence[Path],
    top: str,
    module: str,
    directory: Path,
    *,
    visible: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> str:
    """Build ``top`` in ``directory`` and run the tests of a Python module there; returns what they logged.

    ``visible`` are modules, beside ``top``, whose signals the tests see: that of the machine, if it is embedded. Raises
    ``AssertionError`` with the message of a test that fails, :class:`SimulatorError` where none could be run.
    """
    if simulator not in simulators.SIMULATORS:
        raise ValueError(f"simulator must be one of {', '.join(simulators.SIMULATORS)}, not {simulator!r}")
    directory = directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    report = directory / "results.xml"
    report.unlink(missing_ok=True)
    found = [path.resolve() for path in sources]
    simulators.build(simulator, found, directory, top=top, visible=[top, *visible], optimised=False)
    said = simulators.run_cocotb(
        simulator, directory, top, module, directory, environment={**os.environ, **(environment or {})}, seed=seed
    )
    if not report.exists():
        raise SimulatorError(f"the simulation ended without a result: {' | '.join(said.splitlines()[-12:])}")
    for failed in (one for kind in _FAILED for one in xml.parse(report).iter(kind)):
        raise AssertionError(failed.get("message") or failed.get("error_msg") or said)
    return said
