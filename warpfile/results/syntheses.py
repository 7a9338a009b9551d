"""Areas of several machines: the longest synthesis first, and for how long they go on."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpfile.output.display import Report, left
from warpfile.results.designs import BASELINE, Design
from warpfile.spec.config import Config

if TYPE_CHECKING:
    from warpfile.synth.area import AreaReport

#: A machine: designs with the same have the same area.
Machine = tuple[str, Config]

_PER_CELL = 1e-3  #: seconds of a processor for a cell of a module that is mapped once, before any has been timed
_PERIOD = 5.0  #: seconds after which it is said again how long it goes on
_CELLS = 30_000  #: of a machine whose figures are not kept


class Pace:
    """For how long syntheses go on. ``sizes``: how much work each is, in cells; what runs counts as half done."""

    def __init__(self, sizes: Mapping[Machine, float], clock: Callable[[], float] = time.monotonic) -> None:
        self._sizes, self._clock, self._start = sizes, clock, clock()
        self._running: set[Machine] = set()
        self._ended: set[Machine] = set()
        self._lock = threading.Lock()

    def begin(self, one: Machine) -> None:
        """Work on a machine begins."""
        with self._lock:
            self._running.add(one)

    def end(self, one: Machine) -> None:
        """Its figures are there."""
        with self._lock:
            self._running.discard(one)
            self._ended.add(one)

    def __str__(self) -> str:
        with self._lock:
            ended, running = (sum(self._sizes[one] for one in some) for some in (self._ended, self._running))
            count = len(self._ended)
        done = ended + running / 2
        so_far = (self._clock() - self._start) / done if done else 0.0
        per_cell = so_far if ended else max(so_far, _PER_CELL / processors())
        seconds = (sum(self._sizes.values()) - done) * per_cell
        return f"{count} of {len(self._sizes)} machines done, {left(seconds)}"


def processors() -> int:
    """Processors of this computer."""
    return os.cpu_count() or 1


def machine(design: Design) -> Machine:
    """What decides a design's area."""
    return design.scheme.name, design.config


def areas(
    wanted: Sequence[Design], liberty: Path | None, report: Report, variants: Sequence[Design] = ()
) -> dict[Machine, AreaReport]:
    """Areas of designs and of the baselines beside them, each once; ``variants`` are more designs, without baselines.

    Logic levels are counted of the designs only: a baseline's are not compared. One more
    machine is at work than there are processors, so that Verilog is there when a synthesis ends. Raises ``ValueError``
    for a library that cannot be used and ``ClickException`` for a machine that yosys refuses.
    """
    levels = {machine(design) for design in wanted}
    different = {machine(one): one for design in wanted for one in (design, design.baseline)}
    different |= {machine(one): one for one in variants}
    sizes = {key: size for key, size in expected([*wanted, *variants]).items() if key in different}
    pace = Pace(sizes)

    latest = ["start"]

    def tell(step: str = "") -> None:
        latest[0] = step or latest[0]
        report(f"{latest[0]}; {pace}")

    def work(key: Machine) -> AreaReport:
        pace.begin(key)
        found = _measured(different[key], liberty, key in levels, tell)
        pace.end(key)
        tell()
        return found

    order = sorted(different, key=lambda key: -sizes[key])
    with _repeated(tell), ThreadPoolExecutor(processors() + 1) as pool:
        return dict(zip(order, pool.map(work, order), strict=True))


@contextmanager
def _repeated(tell: Callable[[], None]) -> Iterator[None]:
    """Tell again and again: what is left changes while nothing begins or ends."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(_PERIOD):
            tell()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def expected(wanted: Iterable[Design]) -> dict[Machine, float]:
    """How much work the synthesis of each design, and of the baseline beside it, is: by cells of its kept figures.

    Seconds go by cells of modules, each counted once. A baseline has a third of the text of what is compared with it,
    and no logic levels.
    """
    from warpfile.synth.figures import KEPT, read_figures

    kept = read_figures(KEPT)["schemes"]
    cells = {name: sum(module["cells"] for module in row["modules"]) for name, row in kept.items()}
    sizes: dict[Machine, float] = {}
    for design in wanted:
        size = cells.get(design.scheme.name.partition("+")[0], _CELLS)
        sizes[machine(design)] = size
        beside = size if design.scheme.name == BASELINE else size / 3
        sizes.setdefault(machine(design.baseline), beside)
    return sizes


def _measured(design: Design, liberty: Path | None, levels: bool, tell: Callable[[str], None]) -> AreaReport:
    from warpfile.synth.area import measure
    from warpfile.synth.yosys import YosysError

    def step(name: str) -> None:
        tell(f"{design.scheme.name}, {design.preset}: {name}")

    try:
        return measure(design.scheme, design.config, liberty=liberty, levels=levels, progress=step)
    except YosysError as error:
        raise click.ClickException(f"{design.scheme.name}: {error}") from error
