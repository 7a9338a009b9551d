"""What README, docs and examples tell a reader to type does what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.checks import parse, run
from tests.docs.pages import blocks, of_page
from tests.docs.treatment import COSTLY, ELSEWHERE, NEEDS, PARSED, PYTHON, QUICK

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {command for block in blocks(ROOT) for command in block.commands}
TREATED = {*QUICK, *COSTLY, *ELSEWHERE, *PARSED}


def ends_well(command: str, folder: Path) -> None:
    done = run(command, folder, ROOT)
    assert done.returncode == 0, f"{command}: {done.stdout[-500:]}{done.stderr[-2000:]}"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", sorted(QUICK))
def test_a_command_ends_well(command: str, tmp_path: Path) -> None:
    ends_well(command, tmp_path)


@pytest.mark.check
@pytest.mark.parametrize(
    "command",
    [pytest.param(one, marks=pytest.mark.needs(NEEDS[one]) if one in NEEDS else ()) for one in sorted(COSTLY)],
)
def test_a_costly_command_ends_well(command: str, tmp_path: Path) -> None:
    ends_well(command, tmp_path)


@pytest.mark.parametrize("command", sorted(PARSED))
def test_a_command_that_is_not_run_can_be_read(command: str) -> None:
    assert parse(command, ROOT) == ""


def test_every_command_is_treated_and_once() -> None:
    assert not COMMANDS - TREATED, "tests/docs/treatment.py must say how these are tested"
    assert not TREATED - COMMANDS, "no page has these any more"
    assert len(TREATED) == len(QUICK) + len(COSTLY) + len(ELSEWHERE) + len(PARSED)


@pytest.mark.parametrize("path", sorted({*ELSEWHERE.values()}))
def test_other_tests_are_there(path: str) -> None:
    assert "\ndef test_" in (ROOT / path).read_text()


def test_python_of_the_pages_is_treated() -> None:
    assert {block.page for block in blocks(ROOT) if block.language == "python"} == set(PYTHON)


@pytest.mark.parametrize("page", sorted(page for page, how in PYTHON.items() if how in ("run", "compiled")))
def test_python_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in of_page(page, (ROOT / page).read_text()):
        if block.language == "python":
            code = compile(block.text, f"{page}:{block.line}", "exec")
            if PYTHON[page] == "run":
                exec(code, {})


PAGE = """Text, then

    warpfile run baselin collatz      # a scheme that there is not
    warpfile/    a folder

and

```
$ .venv/bin/python -m warpfile.pages bench golden
text
```

```toml
make = "x"
```
"""


def test_commands_of_a_page_are_found() -> None:
    commands = [command for block in of_page("page.md", PAGE) for command in block.commands]
    assert commands == ["warpfile run baselin collatz", "python -m warpfile.pages bench golden"]


def test_a_wrong_command_on_a_page_is_found(tmp_path: Path) -> None:
    (command, _) = (command for block in of_page("page.md", PAGE) for command in block.commands)
    assert command not in TREATED
    with pytest.raises(AssertionError, match="SCHEME must be one of"):
        ends_well(command, tmp_path)


@pytest.mark.parametrize(
    ("command", "wrong"),
    [
        ("warpfile fly baseline", "no command fly"),
        ("warpfile area baseline --libery x.lib", "No such option"),
        ("warpfile study examples/study/nothing.toml", "nothing.toml"),
        ("python -m warpfile.nothing", "no module warpfile.nothing"),
        ("python -m warpfile.pages bench --nothing", "no option --nothing"),
        ("python -m warpfile.pages nothing --check", "no page nothing"),
        ("make everything", "no target everything"),
        ("pip install 'warpfile[everything]'", "no extra"),
        ("dask worker --nothing", "has no"),
    ],
)
def test_a_wrong_command_that_is_not_run_is_found(command: str, wrong: str) -> None:
    assert wrong in parse(command, ROOT)
