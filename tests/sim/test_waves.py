"""Waveforms hold the cycles and the names that were asked for, and what their viewers are told to show is in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pywellen import Waveform

import warpfile.sim.build as build
import warpfile.sim.waves as waves_module
from warpfile.schemes import SCHEMES
from warpfile.sim.runner import CosimReport, cosim
from warpfile.sim.simulators import SimulatorError
from warpfile.sim.wave_view import Group, Signal, types, view
from warpfile.sim.waves import BEFORE, Waves
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare

#: A scheme in which every part has probes.
NAME = "rfc"
#: Cycle in which a planted difference is there.
PLANTED = 150
TRACE = stress_trace(7, warps_per_cta=[2, 3], ctas=3, length=40, profile="mixed")
WINDOW = (100, 140)
#: Picoseconds of a cycle; its values have settled in the middle.
CYCLE = 10_000
#: Verilator's own scope around the pins of its top module.
OUTSIDE = "$rootio."

Record = Callable[..., Path]


@pytest.fixture(scope="module")
def record(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Runs a scheme with a waveform, which lies in a folder of its own."""

    def run(name: str = "baseline", simulator: str = "icarus", suffix: str = "fst", **changes: object) -> Path:
        path = tmp_path_factory.mktemp("waves") / f"found.{suffix}"
        report = recorded(root, Waves(*WINDOW, path), name, simulator, **changes)
        assert report.outcome.mismatches == 0 and report.waveform == path
        return path

    return run


def recorded(
    root: Path,
    waves: Waves,
    name: str = "baseline",
    simulator: str = "icarus",
    verilog: str | None = None,
    **changes: object,
) -> CosimReport:
    scheme, options = SCHEMES[name], {"waves": waves, "build_root": root / "build", "verilog": verilog}
    cfg = scheme.configuration("tiny", **changes)
    return cosim(scheme, cfg, TRACE, simulator=simulator, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def waveform(record: Record) -> Path:
    return record(NAME)


def signals(path: Path) -> dict[str, Any]:
    """Signals by full name, but for the pins outside the harness."""
    found = {one.full_name: one for one in Waveform(str(path)).all_vars()}
    return {name: one for name, one in found.items() if not name.startswith(OUTSIDE)}


def cycles(path: Path) -> dict[int, int]:
    """A time in every cycle of a waveform, in picoseconds."""
    cycle = signals(path)["harness.cycle"].signal
    seen: dict[int, int] = {}
    for time in range(CYCLE // 2, 1000 * CYCLE, CYCLE):
        if isinstance(value := cycle.value_at(time), int):
            seen.setdefault(value, time)
    return seen


# Cycles.


@pytest.mark.check
@pytest.mark.parametrize(
    ("simulator", "suffix"),
    [
        pytest.param("icarus", "fst", marks=pytest.mark.needs("iverilog")),
        pytest.param("icarus", "vcd", marks=pytest.mark.needs("iverilog")),
        ("verilator", ""),
    ],
)
def test_a_window_has_its_cycles_and_no_others(record: Record, root: Path, simulator: str, suffix: str) -> None:
    path = record("baseline", simulator, suffix or Waves().format(simulator))
    assert list(cycles(path)) == list(range(WINDOW[0], WINDOW[1] + 1))
    assert Waveform(str(path)).file_format.lower() == path.suffix[1:]


@pytest.mark.needs("iverilog")
def test_the_first_cycle_can_be_in_it(root: Path, tmp_path: Path) -> None:
    recorded(root, Waves(0, 3, tmp_path / "found.fst"))
    assert list(cycles(tmp_path / "found.fst")) == [0, 1, 2, 3]


@pytest.mark.needs("iverilog")
def test_a_window_behind_the_end_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"window must begin before the run ends, after \d+ cycles, not in 5000"):
        recorded(root, Waves(5000, 6000, tmp_path / "found.fst"))
    assert not list(tmp_path.iterdir())


def lying(text: str) -> str:
    """A harness that shows one bit of one cycle inverted."""
    cycle = "  reg [31:0] cycle = 0;\n"
    wire = "  wire [OBSERVED:0] observation /*verilator public_flat_rd*/ = {fault, probe};\n"
    assert text.count(cycle) == text.count(wire) == 1
    return text.replace(cycle, "").replace(wire, cycle + wire.replace("probe}", f"probe ^ (cycle == {PLANTED})}}"))


@pytest.mark.needs("iverilog")
def test_a_difference_ends_the_waveform(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = build.harness_verilog
    monkeypatch.setattr(build, "harness_verilog", lambda *given: lying(original(*given)))
    monkeypatch.setattr(waves_module, "BEFORE", 40)
    report = recorded(root, Waves(PLANTED + 9))
    assert report.outcome.first_mismatch and report.outcome.first_mismatch["cycle"] == PLANTED
    assert report.waveform and list(cycles(report.waveform)) == list(range(PLANTED - 40, PLANTED + 2))


@pytest.mark.parametrize(
    ("waves", "cycle", "window"),
    [
        (Waves(10, 20), 500, (10, 20)),
        (Waves(10, 900), 500, (10, 900)),
        (Waves(501), 500, (500 - BEFORE, 501)),
        (Waves(7), 5, (0, 6)),
    ],
)
def test_a_window_that_a_difference_cuts_off_makes_room_for_what_led_to_it(
    waves: Waves, cycle: int, window: tuple[int, int]
) -> None:
    found = waves.until(cycle)
    assert (found.first, found.last) == window


@pytest.mark.parametrize(
    ("text", "window"), [(None, (0, None)), ("5:9", (5, 9)), (":9", (0, 9)), ("5:", (5, None)), ("5:5", (5, 5))]
)
def test_a_window_is_two_cycles_of_which_either_may_be_left_out(
    text: str | None, window: tuple[int, int | None]
) -> None:
    waves = Waves.of(text, None)
    assert (waves.first, waves.last) == window


@pytest.mark.parametrize("text", ["5", "9:5", "-1:5", "a:b", "1:2:3", "0x10:20"])
def test_a_wrong_window_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="window must "):
        Waves.of(text, None)


# Formats.


def test_another_suffix_is_refused() -> None:
    with pytest.raises(ValueError, match=r"waveform must be a file \*.fst or \*.vcd, not found.lxt"):
        Waves(path=Path("found.lxt"))


def test_without_headers_for_fst_verilator_writes_vcd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waves_module, "fst_builds", lambda: False)
    assert [Waves().format(name) for name in ("verilator", "icarus")] == ["vcd", "fst"]
    assert Waves(path=Path("found.fst")).format("icarus") == "fst"
    with pytest.raises(SimulatorError, match=r"liblz4-dev zlib1g-dev, or give a file \*.vcd"):
        Waves(path=Path("found.fst")).format("verilator")
    monkeypatch.setattr(waves_module, "fst_builds", lambda: True)
    assert Waves().format("verilator") == "fst"


# Names.


@pytest.mark.needs("iverilog")
def test_every_wire_has_a_name(waveform: Path) -> None:
    names = signals(waveform)
    assert len(names) > 1000 and not unnamed(names)


def unnamed(names: Iterable[str]) -> list[str]:
    """Signals that a tool has called something."""
    return [name for name in names if re.search(r"[$\\]|_GEN|unnamed|\.\d", name)]


@pytest.mark.needs("iverilog")
def test_wires_without_names_are_found(root: Path, tmp_path: Path) -> None:
    scheme = SCHEMES["baseline"]
    verilog = scheme.verilog(scheme.configuration("tiny"), probes=True)
    recorded(root, Waves(0, 1, tmp_path / "found.fst"), verilog=verilog)
    assert len(unnamed(signals(tmp_path / "found.fst"))) > 100


@pytest.mark.needs("iverilog")
def test_the_view_shows_what_the_golden_model_has(waveform: Path) -> None:
    scheme = SCHEMES[NAME]
    cfg = scheme.configuration("tiny")
    layout = ProbeLayout(scheme.probes(cfg))
    workload = prepare(cfg, scheme.annotated(cfg, TRACE))
    model, environment = scheme.golden(cfg, layout), Environment(cfg, workload, layout)
    words = []
    while len(words) <= WINDOW[1]:
        words.append(model.step(environment.stimulus()))
        environment.observe(words[-1])
    found = signals(waveform)
    groups = [group for group in view(scheme, cfg) if group.name != "pins"]
    shown = {
        one.name: found[f"harness.view.{group.name}.{one.name}"].signal for group in groups for one in group.signals
    }
    assert list(shown) == [probe.name for probe in layout]
    for cycle, time in cycles(waveform).items():
        assert {name: signal.value_at(time) for name, signal in shown.items()} == layout.unpack(words[cycle]), cycle


def named(groups: Iterable[Group], scope: str = "harness.view") -> Iterator[tuple[str, Signal]]:
    """Signals of groups that have names of values, with their full names."""
    for group in groups:
        place = f"{scope}.{group.name}"
        yield from ((f"{place}.{one.name}", one) for one in group.signals if one.names)
        yield from named(group.groups, place)


@pytest.mark.needs("lz4.h")
def test_values_with_names_have_them_in_verilators_fst(record: Record) -> None:
    narrow = {"lanes": 1, "window": 2, "window_entries": 3}  # the same values have names, in half the C++
    found = signals(record("bow_wr", "verilator", **narrow))
    scheme = SCHEMES["bow_wr"]
    shown = dict(named(view(scheme, scheme.configuration("tiny", **narrow))))
    assert {name.rpartition(".")[2] for name in shown} >= {"kind", "port", "class0", "hints_write_class"}
    for name, signal in shown.items():
        _, values = found[name].enum_type
        assert {int(value, 2): text for value, text in values} == signal.names


# Viewers.


def in_gtkwave(text: str) -> list[tuple[str, str]]:
    """Signals of a save file, each with its innermost group."""
    groups, found = [""], []
    for line in text.splitlines():
        if line.startswith("-"):
            if groups[-1] == line:
                groups.pop()
            else:
                groups.append(line)
        elif line.startswith("harness."):
            found.append((line.partition("[")[0], groups[-1][1:]))
    return found


def missing(waveform: Path, save_file: str) -> list[str]:
    there = signals(waveform)
    return [name for name, _ in in_gtkwave(save_file) if name not in there]


@pytest.mark.needs("iverilog")
def test_gtkwave_is_told_to_show_signals_that_are_there(waveform: Path) -> None:
    text = waveform.with_suffix(".gtkw").read_text()
    scheme = SCHEMES[NAME]
    groups = view(scheme, scheme.configuration("tiny"))
    assert f'"{waveform}"' in text and not missing(waveform, text)
    assert missing(waveform, text.replace("pins.decode.kind", "pins.decode.sort")) == ["harness.view.pins.decode.sort"]
    assert {name for name, _ in in_gtkwave(text)} >= {f"harness.view.pins.result0.{one}" for one in ("warp", "data")}
    tops = [line for line in text.splitlines() if line in {f"-{group.name}" for group in groups}]
    assert tops == [f"-{name}" for name in ("pins", "frame", "scheduler", "collectors", "banks") for _ in range(2)]
    assert {group for _, group in in_gtkwave(text)} >= {"frame.scheduler", "register_file.banks.bank1"}


@pytest.mark.needs("iverilog")
def test_gtkwave_has_a_file_of_names_for_every_kind_of_value(waveform: Path) -> None:
    text = waveform.with_suffix(".gtkw").read_text()
    scheme = SCHEMES[NAME]
    for kind, signal in types(view(scheme, scheme.configuration("tiny"))).items():
        path = waveform.with_suffix(".names") / kind
        lines = [line.split(" ") for line in path.read_text().splitlines()]
        assert {int(value, 2): name for value, name in lines} == signal.names
        assert {len(value) for value, _ in lines} == {signal.width}
        assert re.search(rf"^@100002028\n(\^.*\n.*\n)*\^\d+ {path}$", text, re.MULTILINE)


@pytest.mark.needs("iverilog")
def test_surfer_is_told_to_show_what_is_there(waveform: Path) -> None:
    there = signals(waveform)
    shown = [line.split(" ") for line in waveform.with_suffix(".sucl").read_text().splitlines()]
    variables = [rest[0] for command, *rest in shown if command == "variable_add"]
    scopes = [rest[0] for command, *rest in shown if command == "scope_add_as_group_recursive"]
    assert variables and set(variables) <= set(there)
    assert {"harness.view.pins", "harness.view.frame"} <= set(scopes)
    assert all(any(name.startswith(f"{scope}.") for name in there) for scope in scopes)
