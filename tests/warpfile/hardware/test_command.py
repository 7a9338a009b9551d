"""``python -m warpfile.hardware``: what it prints, and what it says where it cannot go on."""

from pathlib import Path

import numpy as np
import pytest

from warpfile.hardware import compare, driver
from warpfile.hardware.__main__ import main
from warpfile.hardware.probes import BLOCK, Probe, emulated, probes

PROBE = next(probe for probe in probes() if probe.name == "popc_b32")


@pytest.mark.parametrize("words", [[], ["compare"], ["measure"], ["measure", "folder", "weather"], ["listing", "more"]])
def test_wrong_words_show_the_usage(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "python -m warpfile.hardware measure FOLDER" in capsys.readouterr().err


def test_without_a_gpu_one_line_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(driver.ctypes, "CDLL", missing)
    assert main(["measure", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == "warpfile.hardware: a CUDA GPU must be there: libcuda.so.1 was not found\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("planted", [False, True])
def test_compare_names_what_differs(planted: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = emulated(PROBE)
    outcome[0, 7] += planted
    compare.write(tmp_path / "probes.npz", {PROBE.name: outcome})
    assert main(["compare", str(tmp_path / "probes.npz")]) == planted
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"1 probes, {int(planted)} results too far off"
    assert len(lines) == 1 + planted


def test_outcomes_are_read_as_they_were_written(tmp_path: Path) -> None:
    wide: Probe = next(probe for probe in probes() if probe.results == 3)
    written = {one.name: np.full((one.results, BLOCK), one.results, dtype=np.uint32) for one in (wide, PROBE)}
    compare.write(tmp_path / "probes.npz", written)
    found = compare.recorded(tmp_path / "probes.npz")
    assert list(found) == [wide.name, PROBE.name]
    assert all((found[name] == words).all() for name, words in written.items())
