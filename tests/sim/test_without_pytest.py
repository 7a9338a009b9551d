"""A short simulation does not load pytest, although cocotb asks for it."""

import subprocess
import sys

COUNT = "import sys, cocotb.regression; print(sum(name.startswith('_pytest.') for name in sys.modules))"


def loaded(before: str = "") -> int:
    command = [sys.executable, "-c", f"{before}\n{COUNT}"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_cocotb_starts_without_pytest() -> None:
    assert loaded("from warpfile.sim.without_pytest import without_pytest; without_pytest()") == 2 < loaded()
