"""The functions of ``import warpfile``: what the commands do, with dataclasses for results.

Every result has ``to_frame()``, which needs pandas (``pip install 'warpfile[frames]'``). A wrong request or input
raises ``ValueError`` or ``OSError`` with the line that the command line would show, a kernel that does not compute what
it must :class:`Difference`, a tool that is missing or fails ``RuntimeError``. Traces of bundled kernels and built
simulations are kept under ``build`` in the current folder, as the commands keep them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
import numpy as np

from warpfile.cli.commands.area import Cost, measured
from warpfile.emulator.expect import Expectation
from warpfile.output.difference import Difference
from warpfile.output.display import silent
from warpfile.results.comparison import Compared, compared
from warpfile.results.designs import Choice, Design, chosen
from warpfile.results.run import GoldenRun, golden_run
from warpfile.schemes import SCHEMES
from warpfile.spec.presets import PRESETS
from warpfile.spec.trace import Trace
from warpfile.workloads.analysis import analyze_listing
from warpfile.workloads.cuda import import_kernel
from warpfile.workloads.inputs import bundled_kernels, execute_kernel, kernel_directory, listing_file, obtain_trace

if TYPE_CHECKING:
    import pandas

    from warpfile.sim.runner import CosimReport

__all__ = [
    "Analysis",
    "Comparisons",
    "Costs",
    "Difference",
    "Execution",
    "Kernel",
    "Locksteps",
    "Result",
    "Simulations",
    "analyze",
    "compare",
    "execute",
    "import_cuda",
    "kernel_names",
    "lockstep",
    "preset_names",
    "scheme_names",
    "simulate",
    "synthesize",
]

Kernel = str | Path | Trace  #: a bundled kernel's name, a kernel directory, a trace file, or a trace
_LANES = 32
Found = TypeVar("Found")


class Result:
    """What a function found, row by row."""

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per row; those in it, and their keys, become columns ``outer.inner`` of the frame."""
        raise NotImplementedError

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a frame of pandas. Raises ``ImportError`` where pandas is not installed."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas: install it with pip install 'warpfile[frames]'") from None
        return pandas.json_normalize(self.rows())


@dataclass(frozen=True)
class Execution(Result):
    """An executed kernel: its trace, every buffer as it was left, and how those with an ``expect`` compare.

    The frame has a row per instruction of the listing: how often warps ``issued`` it, how many lanes were ``active``
    there on average, and in how many its guard held (``executing``).
    """

    trace: Trace
    expectations: tuple[Expectation, ...]
    outputs: Mapping[str, np.ndarray]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether every buffer with an ``expect`` is as it must be; true where nothing was checked."""
        return all(one.ok for one in self.expectations)

    def rows(self) -> list[dict[str, Any]]:
        """Instructions of the program in order."""
        trace = self.trace
        issued = np.bincount(trace.instruction, minlength=len(trace.program))
        active, executing = (_mean_lanes(trace, masks) for masks in (trace.active, trace.execute))
        columns = zip(issued.tolist(), active.tolist(), executing.tolist(), strict=True)
        return [
            {"offset": one.offset, "opcode": one.opcode, "text": one.text, "port": one.port.name}
            | dict(zip(("issued", "active", "executing"), row, strict=True))
            for one, row in zip(trace.program, columns, strict=True)
        ]


def _mean_lanes(trace: Trace, masks: np.ndarray) -> np.ndarray:
    """Mean number of lanes in the masks of every instruction of the program; zero where none was issued."""
    lanes = np.unpackbits(masks.view(np.uint8)).reshape(-1, _LANES).sum(axis=1)
    count, total = (np.bincount(trace.instruction, some, len(trace.program)) for some in (None, lanes))
    return total / np.maximum(count, 1)


@dataclass(frozen=True)
class Simulations(Result):
    """Runs of golden models. The frame has a row per run, with ``config.FIELD`` and ``counters.NAME``.

    Here and in the next two, ``left_out`` has the schemes that ``all`` stands for and that do not fit: name and reason.
    """

    runs: tuple[GoldenRun, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Runs in the order in which they were asked for, all schemes of a kernel together."""
        return list(map(_row, self.runs))


@dataclass(frozen=True)
class Comparisons(Result):
    """Runs of golden models beside their baselines. The frame has a row per run: that of :class:`Simulations`, and

    ``baseline_cycles`` and ``ipc_growth``, over the baseline at the same preset; ``matched_cycles`` and
    ``ipc_growth_over_matched``, over the baseline that differs in the scheme alone (docs/study.md); and ``differs``,
    the fields in which the machine and the first of them differ, as text.
    """

    runs: tuple[Compared, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Runs in the order in which they were asked for, all schemes of a kernel together."""
        return [{**_row(one.run), **one.to_json(), "differs": str(one.matching)} for one in self.runs]


@dataclass(frozen=True)
class Locksteps(Result):
    """Lockstep runs of RTL and golden model. The frame has a row per run."""

    reports: tuple[CosimReport, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def equal(self) -> bool:
        """Whether RTL and golden model were equal in every cycle of every run."""
        return not any(one.outcome.mismatches for one in self.reports)

    def rows(self) -> list[dict[str, Any]]:
        """Runs in the order in which they were asked for."""
        return [_row(one) for one in self.reports]


@dataclass(frozen=True)
class Costs(Result):
    """What schemes cost in gates, each with the overhead over the baseline. The frame has a row per scheme."""

    costs: tuple[Cost, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Schemes in the order in which they were asked for, without what their modules cost one by one."""
        return [_cost_row(one) for one in self.costs]


def _row(one: GoldenRun | CosimReport) -> dict[str, Any]:
    return {"scheme": one.scheme, **one.to_json(), "config": dataclasses.asdict(one.config)}


def _cost_row(one: Cost) -> dict[str, Any]:
    facts = {key: value for key, value in one.to_json().items() if key not in ("modules", "structures", "source")}
    facts["overhead"] = {key: value for key, value in one.overhead.items() if key != "modules"}
    return {"scheme": one.design.scheme.name, **facts, "config": dataclasses.asdict(one.design.config)}


@dataclass(frozen=True)
class Analysis(Result):
    """Control flow, live registers and hints of the functions of a listing, as ``warpfile analyze --json`` has them.

    The frame has a row per instruction.
    """

    functions: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Instructions of all functions, with ``live``, the number of registers that are live before them."""
        return [
            {"function": one["name"], "live": len(row["live_in"])}
            | {key: value for key, value in row.items() if key != "defined_at"}
            for one in self.functions
            for row in one["instructions"]
        ]


def scheme_names() -> tuple[str, ...]:
    """Schemes there are; parts go behind them with ``+``, as in ``bow_wr+two_level``."""
    return tuple(SCHEMES)


def kernel_names() -> tuple[str, ...]:
    """Bundled kernels."""
    return tuple(bundled_kernels())


def preset_names() -> tuple[str, ...]:
    """Named configurations."""
    return tuple(PRESETS)


def import_cuda(source: str | Path, folder: str | Path, kernel: str | None = None) -> Path:
    """Make a new kernel directory of CUDA, PTX or machine code, with a launch file to be filled in; its path."""
    import_kernel(Path(source), kernel, silent).write(Path(folder))
    return Path(folder)


def analyze(listing: str | Path, function: str | None = None) -> Analysis:
    """Analyze a listing, or that of a kernel: one of its functions or all of them."""
    facts = analyze_listing(listing_file(str(listing)), function)
    return Analysis(tuple(facts["functions"]), tuple(facts["warnings"]))


def execute(kernel: str | Path, *, setting: str = "launch", instruction_limit: int | None = None) -> Execution:
    """Execute a bundled kernel or a kernel directory. A buffer that is not as expected is no error here."""
    found = execute_kernel(kernel_directory(str(kernel)), setting, instruction_limit, silent)
    return Execution(found.trace, found.expectations, found.buffers, found.seconds)


def simulate(
    schemes: str | Iterable[str],
    kernels: Kernel | Iterable[Kernel],
    *,
    preset: str | None = None,
    setting: str = "launch",
    **fields: int | str,
) -> Simulations:
    """Run golden models: every scheme (``all`` for the whole table) over every kernel.

    What ``all`` stands for and does not fit the configuration or a kernel is in ``left_out``, with the reason.
    ``preset`` is a named configuration, by default each scheme's own; ``fields`` change single ones (``lanes=4``).
    """
    asked = _chosen(schemes, preset, fields)
    traces = _traces(kernels, setting)

    def run(one: Design, trace: Trace) -> GoldenRun:
        return golden_run(one.scheme, one.config, one.preset, trace, silent)

    return Simulations(_each(asked, traces, run), asked.left_out)


def compare(
    schemes: str | Iterable[str],
    kernels: Kernel | Iterable[Kernel],
    *,
    preset: str | None = None,
    setting: str = "launch",
    **fields: int | str,
) -> Comparisons:
    """Run golden models, each beside the baseline at its preset and beside the one that differs in the scheme alone.

    Otherwise like :func:`simulate`.
    """
    asked, found = _chosen(schemes, preset, fields), []
    for trace in _traces(kernels, setting):
        fitting = replace(asked, designs=list(asked.designs))
        runs = fitting.each(lambda one, trace=trace: golden_run(one.scheme, one.config, one.preset, trace, silent))  # type: ignore[misc]
        found += compared(fitting.designs, runs, trace, silent)
    return Comparisons(tuple(found), asked.left_out)


def lockstep(
    schemes: str | Iterable[str],
    kernels: Kernel | Iterable[Kernel],
    *,
    preset: str | None = None,
    setting: str = "launch",
    simulator: str = "verilator",
    **fields: int | str,
) -> Locksteps:
    """Run RTL and golden model together and compare them in every cycle; otherwise like :func:`simulate`."""
    from warpfile.sim.runner import cosim

    asked = _chosen(schemes, preset, fields)

    def run(one: Design, trace: Trace) -> CosimReport:
        return cosim(one.scheme, one.config, trace, preset=one.preset, simulator=simulator)

    return Locksteps(_each(asked, _traces(kernels, setting), run), asked.left_out)


def synthesize(
    schemes: str | Iterable[str],
    *,
    preset: str | None = None,
    liberty: str | Path | None = None,
    **fields: int | str,
) -> Costs:
    """Synthesise schemes and their baselines with yosys; areas are in um2 with a cell library."""
    asked = _chosen(schemes, preset, fields)
    try:
        found = measured(asked.designs, Path(liberty) if liberty else None, silent)
        return Costs(tuple(found), asked.left_out)
    except click.ClickException as error:
        raise RuntimeError(error.format_message()) from None


def _chosen(schemes: str | Iterable[str], preset: str | None, fields: Mapping[str, int | str]) -> Choice:
    names = [schemes] if isinstance(schemes, str) else list(schemes)
    try:
        return chosen(names, preset, [f"{name}={value}" for name, value in fields.items()])
    except click.UsageError as error:
        raise ValueError(error.format_message()) from None


def _each(asked: Choice, traces: Iterable[Trace], work: Callable[[Design, Trace], Found]) -> tuple[Found, ...]:
    """What comes of every trace with every design that it fits."""
    found: list[Found] = []
    for trace in traces:
        found += replace(asked, designs=list(asked.designs)).each(lambda one, trace=trace: work(one, trace))  # type: ignore[misc]
    return tuple(found)


def _traces(kernels: Kernel | Iterable[Kernel], setting: str) -> list[Trace]:
    chosen = [kernels] if isinstance(kernels, str | Path | Trace) else list(kernels)
    return [one if isinstance(one, Trace) else obtain_trace(str(one), setting, None, silent) for one in chosen]
