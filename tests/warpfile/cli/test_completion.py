"""What shells complete."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from warpfile.cli.program import main
from warpfile.schemes import SCHEMES
from warpfile.spec.presets import PRESETS
from warpfile.workloads.inputs import bundled_kernels


def offered(line: str) -> list[str]:
    """Words that bash is offered for the last one of a line."""
    words = line.split(" ")
    asked = {"_WARPFILE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    said = CliRunner().invoke(main, env=asked, prog_name="warpfile").stdout
    return [word.partition(",")[2] for word in said.splitlines()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("warpfile tra", {"trace"}),
        ("warpfile imp", {"import"}),
        ("warpfile trace --save", {"--save-outputs"}),
        ("warpfile trace saxp", {"saxpy", "saxp"}),
        ("warpfile analyze ", {*bundled_kernels(), ""}),
        ("warpfile run ", {*SCHEMES, "all", *bundled_kernels(), ""}),
        ("warpfile run baseline col", {"collatz", "col"}),
        ("warpfile generate regm", {"regmutex", "regmutex_paired"}),
        ("warpfile run baseline --preset t", {name for name in PRESETS if name.startswith("t")}),
    ],
)
def test_words_are_completed(line: str, words: set[str]) -> None:
    assert set(offered(line)) == words


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_readme_loads_what_the_command_writes(shell: str, root: object) -> None:
    readme = (root / "README.md").read_text()  # type: ignore[operator]
    assert f"{shell}_source" in readme
    asked = {"_WARPFILE_COMPLETE": f"{shell}_source"}
    said = CliRunner().invoke(main, env=asked, prog_name="warpfile")
    assert said.exit_code == 0 and "_WARPFILE_COMPLETE" in said.stdout
