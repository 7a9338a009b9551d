"""From a study file or options to the points of a study."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click

from warpfile.results.designs import ALL
from warpfile.results.pipeline_log import LONGEST
from warpfile.results.points import Run
from warpfile.results.spread import STUDENT
from warpfile.results.studies.machines import MOST, Machine, machines
from warpfile.results.studies.pricing import price_names
from warpfile.results.studies.tasks import AREA, GOLDEN, LOCKSTEP, PATH, PIPELINE_LOG, Library, Task
from warpfile.spec.reading import read_toml
from warpfile.synth.rules import TABLE, TEXT, Rule, check
from warpfile.synth.timing import timer
from warpfile.workloads.inputs import SETTINGS, KernelError, bundled_kernels, contents, kernel_directory

MOST_SEEDS = max(STUDENT) + 1  #: of which intervals are known

TEXTS: Rule = (
    "a list of texts",
    lambda value: isinstance(value, list) and bool(value) and all(isinstance(one, str) and one for one in value),
)
SEEDS: Rule = (
    f"a list of up to {MOST_SEEDS} different whole numbers",
    lambda value: (
        isinstance(value, list)
        and all(type(one) is int for one in value)
        and 0 < len(set(value)) == len(value) <= MOST_SEEDS
    ),
)
_SWITCH: Rule = ("true or false", lambda value: isinstance(value, bool))
_GROUPS: Rule = ("a list of tables, [[machines]]", lambda value: isinstance(value, list) and bool(value))
_FIELDS = {
    "name": TEXT,
    "kernels": TEXTS,
    "settings": TEXTS,
    "seeds": SEEDS,
    "prices": TEXT,
    **dict.fromkeys((GOLDEN, LOCKSTEP, AREA), _SWITCH),
    "liberty": TEXT,
    "delays": TEXT,
    "pipeline": TABLE,
}
_WINDOW: Rule = (
    f"the first and the last of up to {LONGEST:,} cycles, from 0 on",
    lambda value: (
        isinstance(value, list)
        and [type(one) for one in value] == [int, int]
        and 0 <= value[0] <= value[1] < value[0] + LONGEST
    ),
)
_OF_GROUP = {"parts": TEXTS, "presets": TEXTS, "set": TABLE}


@dataclass(frozen=True)
class Kernel:
    """A kernel in one setting. ``place`` is where any process finds it, ``name`` is how it was asked for."""

    name: str
    place: str
    setting: str
    contents: str


@dataclass(frozen=True)
class Case:
    """One row of the results. There is no kernel where only areas are asked for."""

    machine: Machine
    kernel: Kernel | None = None
    seed: int = 0

    @property
    def label(self) -> str:
        """All that tells it from other cases."""
        kernel = (self.kernel.name, self.kernel.setting, f"seed {self.seed}") if self.kernel else ()
        return ", ".join((self.machine.label, *kernel))

    @property
    def baseline(self) -> Case | None:
        """The same with the baseline at the same preset."""
        beside = self.machine.baseline
        return beside and replace(self, machine=beside)

    @property
    def matched(self) -> Case | None:
        """The same with the matched baseline."""
        beside = self.machine.matched
        return beside and replace(self, machine=beside)

    def task(self, kind: str, asked: tuple[Library | int, ...] = ()) -> Task:
        """What has to be run for it; areas and critical paths depend on the machine alone."""
        point = self.machine.point
        if kind in (AREA, PATH) or not self.kernel:
            return Task(kind, Run(point, ""), asked)
        point = replace(point, setting=self.kernel.setting)
        return Task(kind, Run(point, self.kernel.place, self.seed, self.kernel.contents), asked)


@dataclass(frozen=True)
class Window:
    """Cycles whose pipeline log is kept, of some kernels."""

    kernels: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True)
class Plan:
    """All cases of a study and what is asked of each.

    ``prices`` is the set of all energies, CACTI's unless a paper's was chosen. Areas are counted in the cells of
    ``liberty``, critical paths timed with those of ``delays``, if OpenSTA is there. ``asked`` is the table of the
    study.
    """

    name: str
    cases: tuple[Case, ...]
    kinds: tuple[str, ...]
    prices: str | None = None
    liberty: Library | None = None
    delays: Library | None = None
    window: Window | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)

    def kinds_of(self, case: Case) -> tuple[str, ...]:
        """What is asked of a case. The pipeline log is that of the first seed."""
        seen = self.window and case.kernel and case.kernel.name in self.window.kernels
        watched = seen and case.seed == self.cases[0].seed
        return tuple(kind for kind in self.kinds if kind != PIPELINE_LOG or watched)

    def task(self, case: Case, kind: str) -> Task:
        """The task of a case, with what else decides it."""
        asked: dict[str, tuple[Library | int, ...]] = {
            AREA: (self.liberty,) if self.liberty else (),
            PATH: (self.delays,) if self.delays else (),
            PIPELINE_LOG: (self.window.first, self.window.last) if self.window else (),
        }
        return case.task(kind, asked.get(kind, ()))

    @property
    def tasks(self) -> list[Task]:
        """What has to be run, each once: those of the baselines too. Golden runs come first, critical paths last.

        A matched baseline is run, and not synthesised.
        """
        found: dict[Task, None] = {}
        for kind in self.kinds:
            for case in self.cases:
                if case.machine.design and kind in self.kinds_of(case):
                    beside = (case.baseline,) if kind not in (LOCKSTEP, PIPELINE_LOG) else ()
                    beside += (case.matched,) if kind == GOLDEN else ()
                    found |= {self.task(one, kind): None for one in (case, *beside) if one}
        return list(found)


def study_plan(table: Mapping[str, Any], base: Path, at: str) -> Plan:
    """The study of a table as docs/study.md describes it; paths of kernels are seen from ``base``.

    Raises ``ValueError`` and usage errors that name the valid values; ``at`` is the place of the table.
    """
    check(table, {"machines": _GROUPS}, at, _FIELDS)
    for number, group in enumerate(table["machines"], 1):
        check(group, {"schemes": TEXTS}, f"{at}: machines {number}", _OF_GROUP)
    asked = tuple(kind for kind in (GOLDEN, LOCKSTEP, AREA) if table.get(kind)) or (GOLDEN,)
    if (prices := table.get("prices")) not in (None, *(names := price_names())):
        raise ValueError(f"{at}: prices must be one of {', '.join(names)}, not {prices!r}")
    try:
        found = machines(table["machines"])
        run = list(kernels(table, base)) if asked != (AREA,) else []
        libraries = {one: Library.at(base / table[one]) for one in ("liberty", "delays") if one in table}
        window = _window(table["pipeline"], [one.name for one in run]) if "pipeline" in table else None
    except (ValueError, click.UsageError) as error:
        raise ValueError(f"{at}: {error}") from None
    seeds = table.get("seeds", [0]) if run else [0]
    if (count := len(run or [None]) * len(found) * len(seeds)) > MOST:
        raise ValueError(f"{at}: a study must have at most {MOST:,} points, not {count:,}")
    every = itertools.product(run or [None], found, seeds)
    cases = (Case(machine, kernel, seed) for kernel, machine, seed in every)
    liberty, delays = libraries.get("liberty"), libraries.get("delays") or libraries.get("liberty")
    kinds = (*asked, *((PIPELINE_LOG,) if window else ()), *((PATH,) if AREA in asked and delays and timer() else ()))
    return Plan(table.get("name", "study"), tuple(cases), kinds, prices, liberty, delays, window, dict(table))


def _window(table: Mapping[str, Any], known: Sequence[str]) -> Window:
    """What ``pipeline`` asks for; of all kernels if it names none."""
    check(table, {"cycles": _WINDOW}, "pipeline", {"kernels": TEXTS})
    kernels = table.get("kernels", known)
    if unknown := [name for name in kernels if name not in known]:
        raise ValueError(f"pipeline: kernels must be of those of the study, {', '.join(known)}, not {unknown[0]!r}")
    return Window(tuple(kernels), *table["cycles"])


def read_study(path: Path) -> dict[str, Any]:
    """The table of a study file, whose name is that of the study unless it says another one."""
    return {"name": path.stem, **read_toml(path)}


def kernels(table: Mapping[str, Any], base: Path) -> Iterator[Kernel]:
    """The kernels of a table, each in all of its settings. Raises ``ValueError`` for unknown kernels."""
    if "kernels" not in table:
        raise ValueError("kernels must name what to run: names, kernel directories, traces, globs or all")
    settings: Sequence[str] = table.get("settings", SETTINGS[:1])
    if unknown := [one for one in settings if one not in SETTINGS]:
        raise ValueError(f"settings must be of {', '.join(SETTINGS)}, not {unknown[0]!r}")
    places = {place: name for text in table["kernels"] for name, place in _places(text, base)}
    for (place, name), setting in itertools.product(places.items(), settings):
        yield Kernel(name, place, setting, contents(place, setting))


def _places(text: str, base: Path) -> Sequence[tuple[str, str]]:
    """Names and places of the kernels that a text means. Raises :class:`warpfile.workloads.inputs.KernelError`."""
    known = bundled_kernels()
    if text == ALL:
        return [(name, name) for name in known]
    if set("*?[") & set(text):
        names = [(name, name) for name in known if fnmatch(name, text)]
        anchor = Path(text).anchor
        there = sorted(Path(anchor).glob(text[len(anchor) :]) if anchor else base.glob(text))
        paths = [path for path in there if path.suffix == ".npz" or (path / "kernel.sass").exists()]
        if found := names + [(_shown(path, base), str(path.resolve())) for path in paths]:
            return found
    if text in known:
        return [(text, text)]
    path = base / text
    if path.is_dir() and not (path / "kernel.sass").exists():
        raise KernelError(f"{text} must be a kernel directory, which has kernel.sass and launch.toml")
    if not path.is_dir() and not (path.suffix == ".npz" and path.is_file()):
        kernel_directory(text)
    return [(text, str(path.resolve()))]


def _shown(path: Path, base: Path) -> str:
    return str(path.relative_to(base) if path.is_relative_to(base) else path)
