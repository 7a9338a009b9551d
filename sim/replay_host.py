"""A replayed lockstep run: the golden side in this process, the simulation in another, a named pipe between them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from warpfile.sim.build import Harness
from warpfile.sim.plan import Outcome
from warpfile.sim.replay import FOUND_VARIABLE, Found
from warpfile.sim.simulators import SimulatorError
from warpfile.sim.stream import GoldenSide, wrong_counters

#: Runs a cocotb module in a harness until it has written a file (``sim.runner.run_module``).
RunModule = Callable[[Harness, str, Path, list[str], dict[str, str], Path], None]
_POLL = 0.005


@dataclass(frozen=True)
class Replayed:
    """A replayed run. ``outcome`` is None if anything was not as it must be: ``objection`` names it.

    ``cycle`` is that of the first difference, if the simulation saw one.
    """

    outcome: Outcome | None
    objection: str = ""
    cycle: int | None = None

    def must_agree(self, explained: Outcome) -> None:
        """Raise :class:`SimulatorError` unless an interactive run found a difference too, in the same cycle."""
        first = explained.first_mismatch
        if first is None or self.cycle not in (None, first["cycle"]):
            seen = f"differs in cycle {first['cycle']}" if first else "finds no difference"
            raise SimulatorError(f"the replayed run objects: {self.objection}; the interactive run {seen}")


def replay(
    harness: Harness,
    side: GoldenSide,
    scratch: Path,
    plusargs: list[str],
    progress: Callable[[], None],
    run_module: RunModule,
) -> Replayed:
    """Run the golden side and the simulation side by side; files go to ``scratch``.

    Raises :class:`SimulatorError` if the simulation breaks off, and what goes wrong in the golden side but is no
    assertion of its own.
    """
    pipe, result = scratch / "stream", scratch / "found.json"
    os.mkfifo(pipe)
    arguments = [*plusargs, f"+feed={pipe}"]
    # Nothing there is compiled, so it need not look for what is.
    environment = {FOUND_VARIABLE: str(result), "WARPFILE_COMPILED": "0"}
    with ThreadPoolExecutor(1) as pool:
        simulation = pool.submit(run_module, harness, "warpfile.sim.replay", scratch, arguments, environment, result)
        feed(pipe, side.blocks(), simulation, progress)
        simulation.result()
    return outcome_of(side, Found.load(result))


def feed(pipe: Path, blocks: Iterable[bytes], simulation: Future[None], progress: Callable[[], None]) -> None:
    """Write blocks to a pipe until they end or its reader is gone."""
    opened = _open(pipe, simulation)
    if opened is None:
        return
    try:
        with os.fdopen(opened, "wb", buffering=0) as stream:
            for block in blocks:
                left = memoryview(block)
                while left:  # a signal, as that of a terminal that changes its size, ends a write half done
                    left = left[stream.write(left) :]
                progress()
    except BrokenPipeError:
        pass  # the simulation has stopped, or has died: its result says which


def _open(pipe: Path, simulation: Future[None]) -> int | None:
    """The writing end, once the simulation reads; None if it has ended before."""
    while not simulation.done():
        try:
            opened = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # no reader yet
            time.sleep(_POLL)
            continue
        os.set_blocking(opened, True)
        return opened
    return None


def outcome_of(side: GoldenSide, found: Found) -> Replayed:
    """The outcome of a run in which everything was equal and everything was compared, or what was not so."""
    counters, golden = side.counters(), dict(side.model.counters)
    environment, checked = side.environment, side.operands_checked
    if found.differs:
        return Replayed(None, f"cycle {found.compared} differs", found.compared)
    if found.faulty:
        return Replayed(None, f"what left before cycle {found.compared} is wrong", found.compared)
    if side.error or not side.complete:
        return Replayed(None, f"the golden model stopped: {side.error or 'nothing happens'}")
    if wrong := wrong_counters(counters, golden):
        return Replayed(None, f"counters are wrong: {', '.join(wrong)}")
    if not found.equal or found.compared != side.cycles:
        return Replayed(None, f"{found.compared} of {side.cycles} cycles were compared")
    if found.operands_checked != checked:
        return Replayed(None, f"{found.operands_checked} of {checked} operands were compared")
    return Replayed(
        Outcome(
            cycles=environment.cycles,
            start_cycles=environment.start_cycles,
            cycles_before=side.cycles_before,
            instructions=environment.instructions,
            operands_checked=found.operands_checked,
            lanes_checked=found.lanes_checked,
            golden_operands_checked=checked,
            seconds=found.seconds,
            counters=counters,
            golden_counters=golden,
        )
    )
