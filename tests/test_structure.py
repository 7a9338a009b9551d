"""The house: one folder per part and side, parts that do not repeat each other, functions that stay short."""

import ast
import itertools
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from warpfile.schemes import PARTS, Part

ROOT = Path(__file__).resolve().parent.parent
SIDES = ("golden", "hdl")
#: Lines that two parts may have in common before they should share a file.
SHARED_LINES = 8
PACKAGES = ("spec", "compiler", "emulator", "golden", "hdl", "schemes", "sim", "synth", "warpfile")
#: Median and 90th percentile of the lines of all functions; they may fall, and nothing may push them up.
FUNCTION_LINES = (7, 19)


def part_folders(side: str) -> list[Path]:
    """Folders of all parts on one side."""
    slots = [ROOT / side / slot for slot in ("scheduler", "collectors", "rf")]
    return sorted(path for slot in slots for path in slot.iterdir() if (path / "__init__.py").exists())


def code_lines(source: str) -> list[str]:
    """Lines of a source that say something: no blanks, comments, docstrings, imports or lone brackets."""
    quiet: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        said = isinstance(node, ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if said:
            quiet.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = [line.strip() for number, line in enumerate(source.splitlines(), 1) if number not in quiet]
    return [line for line in lines if line.strip("()[]{},: ") and not line.startswith("#")]


def longest_run(ours: list[str], theirs: list[str]) -> list[str]:
    """Longest run of lines that stands in both, order kept."""
    best: list[str] = []
    lengths = [0] * (len(theirs) + 1)
    for row, line in enumerate(ours, 1):
        above, lengths = lengths, [0] * (len(theirs) + 1)
        for column, other in enumerate(theirs, 1):
            if line == other:
                lengths[column] = above[column - 1] + 1
                if lengths[column] > len(best):
                    best = ours[row - lengths[column] : row]
    return best


def shared_runs(folders: list[Path]) -> Iterator[tuple[str, str, list[str]]]:
    """Files of two parts with more lines in common than they may have."""
    texts = {path: code_lines(path.read_text()) for folder in folders for path in sorted(folder.rglob("*.py"))}
    for (one, ours), (other, theirs) in itertools.combinations(texts.items(), 2):
        if one.parent != other.parent:
            run = longest_run(ours, theirs)
            if len(run) > SHARED_LINES:
                yield str(one.relative_to(ROOT)), str(other.relative_to(ROOT)), run


def function_lengths() -> list[int]:
    """Lines of every function, ascending."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    nodes = (node for path in files for node in ast.walk(ast.parse(path.read_text())))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions)


@pytest.mark.parametrize("side", SIDES)
def test_no_two_parts_repeat_each_other(side: str) -> None:
    assert not list(shared_runs(part_folders(side)))


def test_a_repeated_run_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "".join(f"    x{number} = {number}\n" for number in range(SHARED_LINES + 1))
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.py").write_text(f'def {name}():\n    """Of {name}."""\n{body}')
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    found = list(shared_runs([tmp_path / "one", tmp_path / "two"]))
    assert len(found) == 1 and len(found[0][2]) == SHARED_LINES + 1


def test_functions_stay_short() -> None:
    lengths, (median, ninetieth) = function_lengths(), FUNCTION_LINES
    assert statistics.median(lengths) <= median
    assert lengths[int(0.9 * len(lengths))] <= ninetieth


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_part_is_in_the_folder_of_its_slot_on_both_sides(part: Part) -> None:
    golden, rtl = (place.partition(":")[0].split(".") for place in (part.golden, part.rtl))
    assert golden[:3] == ["warpfile", "golden", part.slot]
    assert rtl[:3] == ["warpfile", "hdl", part.slot]
    assert golden[3] == rtl[3]
    if golden[3] != "policy":  # the schedulers of one line each live in one file
        assert golden[3] == part.name


@pytest.mark.parametrize("side", SIDES)
def test_no_file_carries_the_name_of_its_part(side: str) -> None:
    prefixed = [
        str(path.relative_to(ROOT))
        for folder in part_folders(side)
        for path in folder.rglob("*.py")
        if path.name.startswith(f"{folder.name}_")
    ]
    assert not prefixed


@pytest.mark.parametrize(
    "folder", part_folders("hdl") + part_folders("golden"), ids=lambda path: "-".join(path.parts[-3:])
)
def test_no_part_imports_another_part(folder: Path) -> None:
    side, slot, name = folder.parts[-3:]
    own = f"warpfile.{side}.{slot}.{name}"
    others = {f"warpfile.{'.'.join(other.parts[-3:])}" for other in part_folders(side)} - {own}
    wrong = [
        (path.name, node.module)
        for path in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and any(f"{node.module}.".startswith(f"{other}.") for other in others)
    ]
    assert not wrong


def test_every_package_is_installed() -> None:
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {name: ROOT / folder for name, folder in settings["package-dir"].items()}
    there = set()
    for name, folder in folders.items():
        packages = sorted(path.parent for path in folder.rglob("__init__.py"))
        there |= {".".join([name, *path.relative_to(folder).parts]) for path in packages}
    assert there == set(settings["packages"])
