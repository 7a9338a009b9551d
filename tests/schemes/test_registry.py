"""Rows of other packages: found by their entry points, left out in one line if something is wrong with them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.schemes.foreign import ROWS, install
from warpfile.schemes import PARTS, SCHEMES, find, registry, variants
from warpfile.schemes.fingerprint import other_packages

OWN = ["baseline", "bow", "bow_wr", "malekeh", "rfc", "pilot", "regmutex", "regmutex_paired", "ltrf", "ltrf_plus"]
OWN += ["corf", "corf_plus", "modern", "larf", "shrf", "owf", "scalar", "sticky"]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path whose packages the table knows; afterwards they are forgotten."""
    monkeypatch.syspath_prepend(tmp_path)
    registry.everything.cache_clear()
    known = set(sys.modules)
    yield tmp_path
    registry.everything.cache_clear()
    for name in set(sys.modules) - known:
        if name.startswith("foreign"):
            del sys.modules[name]


def test_a_foreign_scheme_is_known_by_its_name(site: Path) -> None:
    home = install(site, "foreign_one")
    assert list(SCHEMES) == [*OWN, "copied"]
    assert find("copied").preset == "tiny" and PARTS["copy"].slot == "rf"
    assert find("bow+copy").configuration("tiny") == SCHEMES["bow"].configuration("tiny")
    assert other_packages(find("copied").parts(find("copied").configuration("tiny"))) == {("foreign_one", home)}


def test_what_is_coming_has_a_name_and_is_not_listed(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(SCHEMES) == len(OWN) == len(list(SCHEMES.values()))
    registry.everything.cache_clear()
    monkeypatch.setattr(registry, "OWN", tuple(name for name in registry.OWN if name != "ltrf"))
    monkeypatch.setattr(registry, "COMING", ("ltrf",))
    assert find("ltrf").rf is PARTS["ltrf"] and "ltrf_plus" in SCHEMES
    assert not {"ltrf", "ltrf_plus"} & {*SCHEMES, *PARTS}
    assert list(SCHEMES) == [name for name in OWN if not name.startswith("ltrf")] and len(SCHEMES) == len(OWN) - 2


def test_a_variant_has_a_name_and_the_parts_of_its_scheme_and_is_not_listed() -> None:
    assert {"packing", "corf_plus_virtual"} <= variants().keys() and not variants().keys() & {*SCHEMES}
    for name, one in variants().items():
        assert find(name) is one and one.chosen == SCHEMES[one.variant_of].chosen
        assert one.variant_of in SCHEMES and not one.setups and not one.survivors
        assert name in {setup.machine for setup in SCHEMES[one.variant_of].regression}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def", "SyntaxError: "),
        ("PARTS = ()", "AttributeError: module 'foreign_bad.rows' has no attribute 'SCHEMES'"),
        ("PARTS, SCHEMES = (1,), ()", "TypeError: PARTS must hold parts, not 1"),
        (ROWS.replace('name="{part}"', 'name="two-words"'), "ValueError: name must be an identifier, not 'two-words'"),
        (ROWS.replace("{part}", "units"), "ValueError: part units is that of warpfile already"),
        (ROWS.replace("{scheme}", "bow"), "ValueError: scheme bow is that of warpfile already"),
    ],
)
def test_a_broken_plug_in_is_one_line_and_breaks_nothing_else(
    site: Path, capsys: pytest.CaptureFixture[str], rows: str, why: str
) -> None:
    install(site, "foreign_bad", rows=rows)
    install(site, "foreign_good", scheme="sound", part="sound_file")
    assert list(SCHEMES) == [*OWN, "sound"]
    assert "copy" not in PARTS
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("warpfile: plug-in foreign_bad of foreign_bad is left out: ") and why in line


def test_two_packages_with_one_name_are_both_named(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install(site, "foreign_first")
    install(site, "foreign_second", part="other")
    assert list(SCHEMES) == [*OWN, "copied"]
    assert SCHEMES["copied"].rf.rtl == "foreign_first.rtl:File" and "other" not in PARTS
    (line,) = capsys.readouterr().err.splitlines()
    assert "plug-in foreign_second of foreign_second" in line and "copied is that of foreign_first" in line


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python with a folder of packages on its path."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        return subprocess.run(
            [sys.executable, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    return run


def test_commands_list_a_foreign_scheme_and_complain_of_a_broken_one(
    tmp_path: Path, command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    install(tmp_path, "foreign_one")
    install(tmp_path, "foreign_bad", rows="import nowhere_at_all")
    found = command("-m", "warpfile", "schemes")
    assert found.returncode == 0 and "units over a copy" in found.stdout
    assert found.stderr.count("\n") == 1 and "foreign_bad" in found.stderr
    assert command("-m", "warpfile", "--help").stderr == ""


def test_a_foreign_module_may_be_imported_first(
    tmp_path: Path, command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    install(tmp_path, "foreign_one")
    found = command("-c", "import foreign_one.rows, warpfile.schemes; print(list(warpfile.schemes.SCHEMES))")
    assert "copied" in found.stdout and found.stderr == ""


def test_the_table_imports_nothing_that_a_row_only_names(
    command: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    code = "import sys, warpfile.schemes as s; list(s.SCHEMES); print(*sys.modules)"
    loaded = set(command("-c", code).stdout.split())
    assert "warpfile.schemes.bow" in loaded
    heavy = {"networkx", "amaranth", "cocotb", "click", "rich"}
    assert not heavy & loaded
    assert not [name for name in loaded if name.startswith(("warpfile.compiler", "warpfile.golden", "warpfile.hdl"))]


def test_the_simulators_process_knows_a_foreign_scheme(
    tmp_path: Path, command: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    install(tmp_path, "foreign_one")
    code = (
        "from pathlib import Path; from warpfile.schemes import find; from warpfile.sim.plan import Plan;"
        "cfg = find('copied').configuration('tiny', lanes=2); here = Path('plan.json');"
        "Plan(scheme='copied', config=cfg, trace=here, outcome=here, progress=here).save(here);"
        "print(Plan.load(here).config == cfg)"
    )
    assert command("-c", code).stdout.strip() == "True"
