"""What ``warpfile area`` reports; the measurement itself is tested with ``synth``."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke
from warpfile import synth
from warpfile.schemes import SCHEMES
from warpfile.synth.liberty import NAND2_UNITS
from warpfile.synth.timed import TimedNetlist
from warpfile.synth.timing import BankPath, CriticalPath
from warpfile.synth.wires.result import Wires
from warpfile.tools import missing

SMALL = ("--preset", "tiny", "--set", "lanes=1", "--set", "warps=2", "--set", "collectors=1")


def test_area_reports_cost_and_structure(invoke: Invoke, root: Path) -> None:
    result = invoke("area", "baseline", *SMALL, "--json", "area.json")
    assert result.exit_code == 0, result.output
    facts = json.loads(Path("area.json").read_text())
    assert facts["tool"].startswith("Yosys") and facts["preset"] == "tiny"
    found = facts["schemes"]["baseline"]
    assert found["area_um2"] is None
    assert found["cells"] > 0 and found["logic_levels"] > 0 and found["nand2_equivalents"] > 0
    assert found["storage_bits"]["memories"] == {"register_bank_ram": 2 * 128 * 32}
    assert found["flip_flops"] == sum(found["storage_bits"]["flip_flops"].values())
    assert sum(module["cells"] * module["instances"] for module in found["modules"]) == found["cells"]
    assert found["overhead"]["logic"] == found["overhead"]["storage"] == 0
    for text in ("collector_unit", f"{found['cells']:,}", "8,192"):
        assert text in result.stdout


def test_overhead_is_against_the_baseline_in_the_same_configuration(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second scheme of twice the logic; its preset is its own, and the baseline follows it."""
    measured: list[tuple[str, int]] = []

    def measure(scheme: Any, cfg: Any, **options: Any) -> Any:
        from warpfile.synth.area import AreaReport

        measured.append((scheme.name, cfg.warps))
        size = 100 if scheme.name == "baseline" else 200
        storage = {"flip_flops": {"warpfile": 10}, "memories": {"register_bank_ram": 1000}}
        return AreaReport("Yosys", "library", size, 10, None, float(size), storage, 5, ())

    monkeypatch.setattr("warpfile.synth.area.measure", measure)
    monkeypatch.setitem(SCHEMES, "double", replace(SCHEMES["baseline"], name="double", preset="tiny"))
    result = invoke("area", "baseline", "double", "--set", "lanes=1", "--json", "area.json")
    assert result.exit_code == 0, result.output
    assert sorted(measured) == [("baseline", 5), ("baseline", 8), ("double", 5)]
    facts = json.loads(Path("area.json").read_text())
    assert facts["preset"] is None
    double = facts["schemes"]["double"]
    assert (double["preset"], double["overhead"]["logic"], double["overhead"]["storage"]) == ("tiny", 1.0, 0.0)
    assert all(0 < growth < 1 for growth in double["overhead"]["total"].values())
    assert "+100.0%" in result.stdout


def test_the_first_table_of_growth_has_small_arrays_in_latches(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """bow with windows of three times the baseline in flip-flops, of twice in latches, and no levels of the latter."""
    levels_of: dict[tuple[str, str], bool] = {}

    def measure(scheme: Any, cfg: Any, *, levels: bool, **options: Any) -> Any:
        from warpfile.synth.area import AreaReport

        levels_of[scheme.name, cfg.storage] = levels
        size = 100.0 if scheme.name == "baseline" else {"flip_flops": 300.0, "latches": 200.0}[cfg.storage]
        storage = {"flip_flops": {"warpfile": 10}, "memories": {"register_bank_ram": 1000}}
        return AreaReport("Yosys", "library", 1, 10, None, size, storage, 5, ())

    monkeypatch.setattr("warpfile.synth.area.measure", measure)
    result = invoke("area", "bow", "--json", "area.json")
    assert result.exit_code == 0, result.output
    assert levels_of == {("bow", "flip_flops"): True, ("bow", "latches"): False, ("baseline", "flip_flops"): False}
    found = json.loads(Path("area.json").read_text())["schemes"]["bow"]["overhead"]
    assert (found["logic"], found["latches"]["logic"]) == (2.0, 1.0)
    first, second = result.stdout.split("over the baseline")[1].split("as flip-flops")
    assert "+100.0%" in first and "+200.0%" not in first and "+200.0%" in second
    levels_of.clear()
    assert invoke("area", "bow", "--set", "storage=latches").exit_code == 0
    assert set(levels_of) == {("bow", "latches"), ("baseline", "latches")}


@pytest.mark.parametrize("text", [None, "", "library (broken) { cell (NAND2"])
def test_a_library_that_cannot_be_used_is_refused(invoke: Invoke, folder: Path, text: str | None) -> None:
    if text is not None:
        (folder / "cells.lib").write_text(text)
    result = invoke("area", "baseline", *SMALL, "--liberty", "cells.lib", "--json", "area.json")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "cells.lib" in result.stderr
    assert not (folder / "area.json").exists()


@pytest.mark.check
@pytest.mark.parametrize(("timer", "reason"), [("", missing("sta")), ("2.0", "nand2.lib cannot time")])
def test_what_cannot_be_timed_is_said_and_nothing_fails(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, timer: str, reason: str
) -> None:
    monkeypatch.setattr("warpfile.synth.timing.timer", lambda: timer)
    result = invoke("area", "baseline", *SMALL, "--liberty", str(NAND2_UNITS), "--json", "area.json")
    assert result.exit_code == 0, result.output
    path = json.loads(Path("area.json").read_text())["schemes"]["baseline"]["critical_paths"]["nand2.lib"]
    assert path["nanoseconds"] is None and path["reason"].startswith(reason)
    assert "need --liberty" not in result.stdout


@pytest.mark.check
def test_paths_of_other_libraries_leave_the_areas_as_they_are(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    found = CriticalPath(1.25, "", "a", "b")
    monkeypatch.setattr("warpfile.synth.area.critical_path", lambda _scheme, _cfg, path: replace(found, end=path.stem))
    cells = (Path(synth.__file__).parent / "nand2.lib").read_bytes()
    Path("one.lib").write_bytes(cells)
    Path("two.lib.gz").write_bytes(gzip.compress(cells))
    result = invoke("area", "baseline", *SMALL, "--delays", "one.lib", "--delays", "two.lib.gz", "--json", "area.json")
    assert result.exit_code == 0, result.output
    facts = json.loads(Path("area.json").read_text())
    assert facts["liberty"].startswith("nand2.lib")
    paths = facts["schemes"]["baseline"]["critical_paths"]
    assert {name: path["end"] for name, path in paths.items()} == {"one.lib": "one", "two.lib.gz": "two.lib"}
    assert "1.25 ns, 1.25 ns" in result.stdout


@pytest.mark.check
def test_paths_with_access_times_have_a_table_of_their_own(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """5 ns are 50 FO4 of 0.1 ns."""
    found = CriticalPath(1.25, "", "a", "b", with_access=BankPath(5.0, "bank/data", "unit/D", 0.1, {"ram": 45.5}))
    monkeypatch.setattr("warpfile.synth.area.critical_path", lambda *_: found)
    result = invoke("area", "baseline", *SMALL, "--delays", str(NAND2_UNITS), "--json", "area.json")
    assert result.exit_code == 0, result.output
    assert "ram 45.5" in result.stdout and "bank/data" in result.stdout and "50" in result.stdout
    facts = json.loads(Path("area.json").read_text())["schemes"]["baseline"]["critical_paths"]["nand2.lib"]
    assert facts["with_access"]["access_fo4"] == {"ram": 45.5} and facts["nanoseconds"] == 1.25


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--flow", "timed"), "--flow timed must have a library with delays: --delays FILE"),
        (("--delays", "cells.lib", "--gate-clocks"), "--gate-clocks must have --flow timed"),
        (("--delays", "cells.lib", "--wires"), "--wires must have --flow timed"),
        (("--delays", "cells.lib", "--flow", "timed", "--placement", "a.png"), "--placement must have --wires"),
        (
            ("--delays", "cells.lib", "--flow", "timed", "--wires", "--placement", "a.jpg"),
            "must end in .png, not 'a.jpg'",
        ),
    ],
)
def test_options_of_the_timed_flow_need_each_other(invoke: Invoke, options: tuple[str, ...], what: str) -> None:
    result = invoke("area", "baseline", *SMALL, *options)
    assert result.exit_code == 2 and what in result.stderr


@pytest.mark.check
def test_the_timed_flow_has_a_table_of_its_own(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(_scheme: object, _cfg: object, path: Path, *, gates: bool, **_more: object) -> TimedNetlist:
        found = CriticalPath(2.5, "", "a", "b")
        return TimedNetlist("levels", 70, 9, 3, 500.0, 62.5, found, 3.0, 12, 0.05, 550.0 if gates else None, 490.0)

    monkeypatch.setattr("warpfile.synth.area.timed", timed)
    monkeypatch.setattr("warpfile.synth.area.critical_path", lambda *_: pytest.fail("timed in the plain flow"))
    options = ("--flow", "timed", "--gate-clocks", "--delays", str(NAND2_UNITS), "--json", "area.json")
    result = invoke("area", "baseline", *SMALL, *options)
    assert result.exit_code == 0, result.output
    facts = json.loads(Path("area.json").read_text())["schemes"]["baseline"]
    assert facts["netlists"]["nand2.lib"]["area"] == 500.0 and facts["netlists"]["nand2.lib"]["swaps"] == 12
    assert facts["critical_paths"]["nand2.lib"]["nanoseconds"] == 2.5
    assert "Clock gates: 490.0 instead of 550.0 with enables" in result.stdout and "50.0" in result.stdout


def test_a_placer_that_is_missing_is_named(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "warpfile.cli.options.find_spec", lambda name: None if name == "coloquinte" else find_spec(name)
    )
    result = invoke("area", "baseline", *SMALL, "--flow", "timed", "--delays", "cells.lib", "--wires")
    assert result.exit_code == 2
    assert result.stderr == "warpfile: --wires needs coloquinte: pip install 'warpfile[wires]'\n"


def test_a_picture_is_of_one_scheme(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpfile.cli.options.find_spec", lambda name: name)
    options = ("--flow", "timed", "--delays", str(NAND2_UNITS), "--wires", "--placement", "a.png")
    result = invoke("area", "baseline", "malekeh", *SMALL, *options)
    assert result.exit_code == 2 and "--placement must have one scheme and one library" in result.stderr


@pytest.mark.check
def test_wires_have_a_table_of_their_own(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the baseline's path, of 100 FO4; with access times 1.6 times it, of 128. The picture is the scheme's."""
    asked = []

    def timed(scheme: Any, _cfg: object, _path: Path, *, wires: bool, picture: Any = None, **_: Any) -> Any:
        asked.append((scheme.name, wires))
        if picture:
            picture(scheme.name.encode())
        one, other = (2.5, 4.0) if scheme.name == "baseline" else (5.0, 6.4)
        longer = CriticalPath(one, "", "a", "b", with_access=BankPath(other, "c", "d", 0.05, {"ram": 30.0}))
        facts = (7.0, 6.0, 1.25, 1.15, 3, 60.0, 2000.0, 12, 70, 560.0, 300.0, 310.0, 0.71, 0.4, 0.2)
        found = Wires(longer, *facts, (("unit/q", 900.0),), (("unit", 0.75),))
        return TimedNetlist("levels", 67, 9, 0, 500.0, 62.5, CriticalPath(2.0), fo4_ns=0.05, wires=found)

    monkeypatch.setattr("warpfile.synth.area.timed", timed)
    monkeypatch.setattr("warpfile.cli.options.find_spec", lambda name: name)
    options = ("--flow", "timed", "--wires", "--placement", "a.png", "--delays", str(NAND2_UNITS))
    result = invoke("area", "malekeh", *SMALL, *options, "--json", "area.json")
    assert result.exit_code == 0, result.output
    assert asked == [("malekeh", True), ("baseline", True)]
    assert Path("a.png").read_bytes() == b"malekeh"
    facts = json.loads(Path("area.json").read_text())["schemes"]["malekeh"]["netlists"]["nand2.lib"]
    assert TimedNetlist.from_json(facts).wires == timed(SCHEMES["malekeh"], None, Path(), wires=True).wires
    for text in ("5.0 ns with wires", " 100 ", " 6.4  128 ", " 1.6 ", "  40\n", "300 x 310", "unit/q 900 um"):
        assert text in result.stdout
    assert "unit 0.75 m" in result.stdout


@pytest.mark.check
def test_changes_against_earlier_figures_are_a_table(invoke: Invoke) -> None:
    assert invoke("area", "baseline", *SMALL, "--json", "area.json").exit_code == 0
    result = invoke("area", "baseline", *SMALL, "--against", "area.json")
    assert "Nothing differs from the earlier figures." in result.stdout
    facts = json.loads(Path("area.json").read_text())
    facts["schemes"]["baseline"]["cells"] //= 2
    Path("area.json").write_text(json.dumps(facts))
    changed = invoke("area", "baseline", *SMALL, "--against", "area.json").stdout
    assert "Nothing differs" not in changed and "cells" in changed and "+100.0%" in changed
