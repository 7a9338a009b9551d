"""The code of docs/adding_a_scheme.md, installed as a package of its own, works everywhere by its name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_BLOCK = re.compile(r"^```(?:python|toml)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KERNEL = "spmv"


def blocks(page: str) -> dict[str, str]:
    """Files of the page: each block of code begins with the name of its file in a comment."""
    return dict(_BLOCK.findall(page))


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scratch environment in which pip has installed the package of the page."""
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name, text in blocks((root / "docs" / "adding_a_scheme.md").read_text()).items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text)
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(site), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return site


def warpfile(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line, in the scratch environment."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-m", "warpfile", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=site)


def lockstep(site: Path, scheme: str) -> tuple[int, dict[str, object]]:
    """Exit status and facts of a lockstep run."""
    facts = site / "facts.json"
    facts.unlink(missing_ok=True)
    options = ["--preset", "tiny", "--set", "lanes=2"]
    done = warpfile(site, "cosim", scheme, KERNEL, *options, "--json", str(facts))
    assert facts.exists(), done.stderr
    (found,) = json.loads(facts.read_text())["schemes"].values()
    return done.returncode, found


def test_the_page_has_every_file_of_a_package(root: Path) -> None:
    names = set(blocks((root / "docs" / "adding_a_scheme.md").read_text()))
    modules = {f"swizzled/{name}.py" for name in ("__init__", "declared", "annotate", "golden", "rtl", "row")}
    assert names == {"pyproject.toml", "swizzled/guessed.toml", *modules}


@pytest.mark.check
def test_every_command_knows_it(site: Path) -> None:
    assert "swizzled" in warpfile(site, "schemes").stdout
    run = warpfile(site, "run", "swizzled", KERNEL, "--preset", "tiny", "--json", str(site / "run.json"))
    assert not run.returncode, run.stderr
    assert json.loads((site / "run.json").read_text())["schemes"]["swizzled"]["counters"]["meeting_beats"]
    made = warpfile(site, "generate", "swizzled", "--preset", "tiny", "-o", str(site / "rtl"))
    assert not made.returncode, made.stderr
    assert (site / "rtl" / "swizzled.v").exists()


def test_energy_is_priced_by_the_packages_own_set(site: Path) -> None:
    facts = site / "energy.json"
    options = ["--preset", "tiny", "--json", str(facts)]
    done = warpfile(site, "energy", "swizzled", KERNEL, *options)
    assert not done.returncode, done.stderr
    found = json.loads(facts.read_text())["schemes"]["swizzled"]
    assert found["prices"]["name"] == "guessed"
    # A tiny machine has four of the 32 lanes that the prices are for.
    banks = [found["accesses"][kind] for kind in ("bank_read", "bank_write")]
    assert [one["picojoules_each"] for one in banks] == [10.0 / 8, 20.0 / 8]
    assert found["picojoules"] == sum(one["count"] * one["picojoules_each"] for one in banks) > 0
    asked = warpfile(site, "energy", "baseline", KERNEL, *options, "--prices", "guessed")
    assert not asked.returncode, asked.stderr
    assert json.loads(facts.read_text())["schemes"]["baseline"]["prices"]["name"] == "guessed"


@pytest.mark.check
@pytest.mark.parametrize("scheme", ["swizzled", "bow_wr+swizzled+two_level"])
def test_rtl_and_golden_model_are_equal(site: Path, scheme: str) -> None:
    status, facts = lockstep(site, scheme)
    assert (status, facts["mismatches"]) == (0, 0)
    assert facts["operands_checked"]
    assert facts["counters"]["meeting_beats"]  # type: ignore[index]


@pytest.mark.check
def test_a_broken_rtl_is_found_although_the_sound_one_was_built_before(site: Path) -> None:
    assert lockstep(site, "swizzled")[0] == 0
    rtl = site / "swizzled" / "rtl.py"
    sound = rtl.read_text()
    assert "place ^ row" in sound
    try:
        # Of another length: Python takes a module for unchanged that has its length and was written in the same second.
        rtl.write_text(sound.replace("place ^ row", "(place | row)"))
        status, facts = lockstep(site, "swizzled")
    finally:
        rtl.write_text(sound)
    assert status == 1
    assert facts["mismatches"]


def test_what_does_not_fit_is_refused_in_one_line(site: Path) -> None:
    done = warpfile(site, "run", "swizzled+rfc+bow", KERNEL)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
