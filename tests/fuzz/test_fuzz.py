"""A short part of ``make fuzz``: seeded inputs of every class, what was found before, and the fuzzer's own controls."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzz import fuzzer
from tests.fuzz.fuzzer import Findings, Watch, fuzzed, judged, mutated, shrunk, watched
from tests.fuzz.targets import TARGETS, Target

FOUND = Path(__file__).parent / "found"
INPUTS = 120


@pytest.fixture(scope="module")
def watch(tmp_path_factory: pytest.TempPathFactory) -> Watch:
    return watched(tmp_path_factory.mktemp("fuzz"))


@pytest.fixture
def inside(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> Watch:
    monkeypatch.chdir(watch.folder)
    return watch


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("default")
def test_no_input_breaks_the_rules(name: str, inside: Watch) -> None:
    findings = Findings(name, TARGETS[name], inside)
    fuzzed(findings, seed=1, seconds=60, most=INPUTS)
    assert findings.problems == {}
    assert findings.inputs > len(TARGETS[name].seeds())


@pytest.mark.parametrize("name", TARGETS)
def test_whole_inputs_are_taken(name: str, inside: Watch) -> None:
    TARGETS[name].run(TARGETS[name].seeds()[-1], inside.folder)


@pytest.mark.parametrize("path", sorted(FOUND.iterdir()), ids=lambda path: path.name)
def test_what_was_found_is_mended(path: Path, inside: Watch) -> None:
    assert judged(TARGETS[path.name.partition("-")[0]], path.read_bytes(), inside) is None


def planted(run: Callable[[bytes, Path], None]) -> Target:
    return Target(lambda: [b"some plain input without any fault"], run)


def stumbles(data: bytes, folder: Path) -> None:
    if b"input" in data and data.count(b"o") > 1:
        raise KeyError("a bug")


def mumbles(data: bytes, folder: Path) -> None:
    raise ValueError("invalid literal for int() with base 16: 'x'")


def strays(data: bytes, folder: Path) -> None:
    (folder.parent / "stray").write_bytes(data)


def spins(data: bytes, folder: Path) -> None:
    while True:
        pass


def dawdles(data: bytes, folder: Path) -> None:
    time.sleep(0.05)


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (stumbles, "KeyError in test_fuzz.py stumbles"),
        (mumbles, "foreign words: invalid literal"),
        (strays, "written outside"),
        (dawdles, "too slow"),
    ],
)
def test_planted_faults_are_found(
    monkeypatch: pytest.MonkeyPatch, inside: Watch, run: Callable[[bytes, Path], None], problem: str
) -> None:
    monkeypatch.setattr(fuzzer, "PATIENCE", 0.04)
    monkeypatch.setattr(fuzzer, "_SHRINKING", 1)
    findings = Findings("planted", planted(run), inside, inside.folder / "keep")
    fuzzed(findings, seed=1, seconds=20, most=20)
    (found,) = findings.problems
    assert found.startswith(problem)
    (kept, words) = sorted((inside.folder / "keep").iterdir())
    assert words.read_text() == f"{found}\n" and judged(planted(run), kept.read_bytes(), inside) == found
    kept.unlink()
    words.unlink()


def test_an_input_that_is_slow_once_is_no_finding(monkeypatch: pytest.MonkeyPatch, inside: Watch) -> None:
    monkeypatch.setattr(fuzzer, "PATIENCE", 0.04)
    seen = set()

    def halted(data: bytes, folder: Path) -> None:
        if data not in seen:
            seen.add(data)
            time.sleep(0.05)

    findings = Findings("planted", planted(halted), inside)
    fuzzed(findings, seed=1, seconds=20, most=3)
    assert (findings.inputs, findings.problems) == (3, {}) and findings.slowest > 0.04


def test_an_input_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch, inside: Watch) -> None:
    monkeypatch.setattr(fuzzer, "PATIENCE", 0.05)
    before = signal.getsignal(signal.SIGALRM)
    try:
        fuzzer.interrupt()
        found = judged(planted(spins), b"", inside)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert found == "too slow"


def test_a_finding_is_shrunk(inside: Watch) -> None:
    small = shrunk(planted(stumbles), b"so some input or other, and more", "KeyError in test_fuzz.py stumbles", inside)
    assert sorted(small) == sorted(b"inputoo")


def test_a_refusal_is_no_finding(inside: Watch) -> None:
    def refuses(data: bytes, folder: Path) -> None:
        raise ValueError("data must be better, not worse")

    assert judged(planted(refuses), b"", inside) is None


def test_the_same_seed_gives_the_same_inputs() -> None:
    target = TARGETS["settings"]
    one, other = (mutated(target.seeds()[0], random.Random(7), target, list(target.seeds())) for _ in range(2))
    assert one == other
