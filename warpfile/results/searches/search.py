"""A search from its file to its findings: golden models first, then areas of what may be at the front."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warpfile.output.display import Report
from warpfile.results.figure import Figure
from warpfile.results.points import Outcome, Run
from warpfile.results.searches.areas import Errors, Features, Model, features, fitted, left_out, memory_nand2, training
from warpfile.results.searches.figures import Figures, front
from warpfile.results.searches.plan import Search
from warpfile.results.searches.space import Candidate
from warpfile.results.studies.execution import outcomes
from warpfile.results.studies.pricing import DEFAULT, cost, one_set
from warpfile.results.studies.tasks import CELLS, GOLDEN, LOCKSTEP, OK, PATH, Done, Task

if TYPE_CHECKING:
    from distributed import Client

Connected = Callable[[], "Iterator[Client]"]


@dataclass(frozen=True)
class Findings:
    """What came of a search. ``left``: candidates that do not run every kernel or were not synthesised, and why.

    ``figures`` have every candidate at the first seed, ``finalists`` those at the front and those that
    :meth:`Search.judged` names at all seeds. ``lockstep`` is of what is at the front. ``runs`` and ``seconds``: of
    golden models, and the processor time that they take, whenever they were run.
    """

    search: Search
    figures: Mapping[str, Figures]
    finalists: Mapping[str, Figures]
    front: tuple[str, ...]
    left: Mapping[str, str]
    model: Model
    errors: Errors
    synthesised: int
    runs: int
    seconds: float
    lockstep: Mapping[str, Sequence[Done]]


class Searcher:
    """Asks for the tasks of a search, round by round."""

    def __init__(self, search: Search, connected: Connected, report: Report) -> None:
        self._search, self._connected, self._report = search, connected, report
        self._by_name = {one.name: one for one in search.candidates}
        self._left: dict[str, str] = {}
        self._seconds: dict[Task, float] = {}

    def run(self) -> Findings:
        """All of it. Raises ``ValueError`` if the baseline does not run."""
        search = self._search
        runs = self._golden(search.candidates, search.seeds[:1])
        if search.baseline.name in self._left:
            raise ValueError(f"the baseline must run every kernel: {self._left[search.baseline.name]}")
        some = [one for one in search.candidates if one.name in runs]
        always = [one for one in some if search.judged(one)]
        areas = self._areas({one.name: one for one in (*always, *training(some, search.sizes))}.values())
        while True:  # every round has some areas more, of those that are left at most all
            some = [one for one in some if one.name not in self._left]
            figures = self._figures(some, runs, areas)
            errors = left_out(self._points(areas))
            wanted = [name for name in front(figures.values(), errors.median) if name not in areas]
            if not wanted:
                break
            areas |= self._areas([self._by_name[name] for name in wanted])
        last = [one for one in some if search.judged(one) or one.name in front(figures.values())]
        finalists = self._figures(last, self._golden(last, search.seeds), areas)
        at_front = front(finalists.values())
        chosen = [self._by_name[name] for name in at_front]
        paths = self._paths(chosen)
        return Findings(
            search=search,
            figures=figures,
            finalists={name: replace(one, path=paths.get(name)) for name, one in finalists.items()},
            front=tuple(at_front),
            left=self._left,
            model=fitted(list(self._points(areas).values())),
            errors=errors,
            synthesised=len(areas),
            runs=len(self._seconds),
            seconds=sum(self._seconds.values()),
            lockstep=self._lockstep(chosen),
        )

    def _ask(self, tasks: Iterable[Task]) -> dict[Task, Done]:
        return outcomes(tasks, self._connected, self._report)

    def _golden(self, some: Iterable[Candidate], seeds: Sequence[int]) -> dict[str, list[list[Outcome]]]:
        """By candidate the runs of all kernels, seed by seed, of those that run all."""
        search = self._search
        wanted = {one.name: [search.tasks(one, GOLDEN, seed) for seed in seeds] for one in some}
        found = self._ask(task for tasks in wanted.values() for row in tasks for task in row)
        runs = {}
        for name, tasks in wanted.items():
            wrong = next((found[task].error for row in tasks for task in row if found[task].status != OK), "")
            if wrong:
                self._left[name] = wrong
            else:
                runs[name] = [[Outcome(**found[task].facts) for task in row] for row in tasks]
                self._seconds |= {
                    task: run.seconds
                    for row in zip(tasks, runs[name], strict=True)
                    for task, run in zip(*row, strict=True)
                }
        return runs

    def _areas(self, some: Iterable[Candidate]) -> dict[str, float]:
        """Logic of machines, in NAND2 equivalents."""
        wanted = {one.name: Task(CELLS, Run(one.machine.point, "")) for one in some}
        found = self._ask(wanted.values())
        self._left |= {name: found[task].error for name, task in wanted.items() if found[task].status != OK}
        done = {name: found[task].facts for name, task in wanted.items() if found[task].status == OK}
        return {name: float(facts["nand2_equivalents"]) for name, facts in done.items()}

    def _points(self, areas: Mapping[str, float]) -> dict[str, tuple[Features, float]]:
        return {name: (features(self._by_name[name]), nand2) for name, nand2 in areas.items()}

    def _figures(
        self, some: Iterable[Candidate], runs: Mapping[str, list[list[Outcome]]], areas: Mapping[str, float]
    ) -> dict[str, Figures]:
        model, base = fitted(list(self._points(areas).values())), self._search.baseline
        whole = areas[base.name] + memory_nand2(base)
        found = {}
        for one in some:
            logic = areas.get(one.name)
            size = (model.nand2(features(one)) if logic is None else logic) + memory_nand2(one)
            ipc, energy = self._growths(one, runs[one.name], runs[base.name])
            found[one.name] = Figures(one.name, one.kind, size / whole - 1, logic is not None, ipc, energy)
        return found

    def _growths(
        self, one: Candidate, ours: list[list[Outcome]], base: list[list[Outcome]]
    ) -> tuple[Figure, Figure | None]:
        """Of IPC and of energy; no energy where a memory has no price."""
        ipc = self._ratios(*([[run.ipc for run in row] for row in rows] for rows in (ours, base)))
        spent, least = (self._energies(machine, rows) for machine, rows in ((one, ours), (self._search.baseline, base)))
        energy = self._ratios(spent, least) if spent and least else {}
        return Figure(ipc, "geometric growth"), Figure(energy, "growth") if energy else None

    def _ratios(self, ours: list[list[float]], base: list[list[float]]) -> dict[str, list[float]]:
        """By kernel and seed, of values that stand seed by seed."""
        rows = [[one / other for one, other in zip(*pair, strict=True)] for pair in zip(ours, base, strict=True)]
        names = [f"{kernel.name} {kernel.setting}" for kernel in self._search.kernels]
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    def _energies(self, one: Candidate, rows: list[list[Outcome]]) -> list[list[float]]:
        prices = one_set(DEFAULT)
        found = [[cost(one.scheme, one.config, run, prices) for run in row] for row in rows]
        return [[each.picojoules for each in row if each] for row in found] if all(map(all, found)) else []

    def _paths(self, some: Iterable[Candidate]) -> dict[str, float]:
        """Critical paths over the baseline's, if the search has a library with delays."""
        search = self._search
        if not search.delays:
            return {}
        wanted = {
            one.name: Task(PATH, Run(one.machine.point, ""), (search.delays,)) for one in (search.baseline, *some)
        }
        found = self._ask(wanted.values())
        lengths = {name: found[task].facts.get("nanoseconds") for name, task in wanted.items()}
        base = lengths[search.baseline.name]
        return {name: length / base for name, length in lengths.items() if length and base}

    def _lockstep(self, some: Iterable[Candidate]) -> dict[str, list[Done]]:
        search = self._search
        wanted = {one.name: search.tasks(one, LOCKSTEP, search.seeds[0]) for one in some}
        found = self._ask(task for tasks in wanted.values() for task in tasks)
        return {name: [found[task] for task in tasks] for name, tasks in wanted.items()}


def searched(search: Search, connected: Connected, report: Report) -> Findings:
    """The findings of a search; what is kept is not run again."""
    return Searcher(search, connected, report).run()
