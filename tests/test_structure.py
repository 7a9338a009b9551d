"""The house: one folder per part and side, parts that do not repeat each other, functions that stay short."""

import ast
import dataclasses
import itertools
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from warpfile.schemes import PARTS, Part

ROOT = Path(__file__).resolve().parent.parent
SIDES = ("golden", "hdl")
#: Lines that two parts may have in common before they should share a file.
SHARED_LINES = 8
PACKAGES = ("spec", "compiler", "emulator", "golden", "hdl", "schemes", "sim", "synth", "integrations", "warpfile")
#: Median and 90th percentile of the lines of all functions; they may fall, and nothing may push them up.
FUNCTION_LINES = (7, 19)


def part_folders(side: str, root: Path = ROOT) -> list[Path]:
    """Folders of all parts on one side."""
    slots = [root / side / slot for slot in ("scheduler", "collectors", "rf")]
    return sorted(path for slot in slots for path in slot.iterdir() if (path / "__init__.py").exists())


def parts_of(side: str) -> list[list[Path]]:
    """Files of every part on a side, or of what is declared of it, or of its pass."""
    if side == "spec":
        return [[path] for path in sorted((ROOT / "spec" / "schemes").glob("*.py"))]
    passes = [path for path in sorted((ROOT / "compiler" / "passes").iterdir()) if (path / "__init__.py").exists()]
    folders = passes if side == "passes" else part_folders(side)
    return [sorted(folder.rglob("*.py")) for folder in folders]


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


def shared_runs(parts: list[list[Path]]) -> Iterator[tuple[str, str, list[str]]]:
    """Files of two parts with more lines in common than they may have."""
    texts = [[(path, code_lines(path.read_text())) for path in files] for files in parts]
    for ours, theirs in itertools.combinations(texts, 2):
        for (one, lines), (other, others) in itertools.product(ours, theirs):
            run = longest_run(lines, others)
            if len(run) > SHARED_LINES:
                yield str(one), str(other), run


def function_lengths(sources: Iterable[str]) -> list[int]:
    """Lines of every function, ascending."""
    nodes = (node for source in sources for node in ast.walk(ast.parse(source)))
    functions = (node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return sorted((node.end_lineno or node.lineno) - node.lineno + 1 for node in functions)


def too_long(lengths: list[int]) -> bool:
    """Whether functions have become longer than they were."""
    median, ninetieth = FUNCTION_LINES
    return statistics.median(lengths) > median or lengths[int(0.9 * len(lengths))] > ninetieth


def prefixed(folders: Iterable[Path]) -> list[str]:
    """Files that carry the name of their folder before their own."""
    files = ((folder, path) for folder in folders for path in sorted(folder.rglob("*.py")))
    return [str(path) for folder, path in files if path.name.startswith(f"{folder.name}_")]


def misplaced(part: Part) -> bool:
    """Whether golden model and RTL are not in the folder of that part, or that of its slot for one-line schedulers."""
    golden, rtl = (place.partition(":")[0].split(".") for place in (part.golden, part.rtl))
    folder = "policy" if part.slot == "scheduler" and golden[3] == "policy" else part.name
    return (golden[:4], rtl[:4]) != tuple(["warpfile", side, part.slot, folder] for side in SIDES)


def imported(source: str) -> Iterator[str]:
    """Full names of all that a source imports: of modules, and of what is taken from them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports must be absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports_of_others(folder: Path, folders: Iterable[Path]) -> list[tuple[str, str]]:
    """Files of a part with what they import of another part of their side."""
    others = [f"warpfile.{'.'.join(other.parts[-3:])}" for other in folders if other != folder]
    files = sorted(folder.rglob("*.py"))
    names = ((path.name, name) for path in files for name in imported(path.read_text()))
    return [(path, name) for path, name in names if any(f"{name}.".startswith(f"{other}.") for other in others)]


def planted(folder: Path, files: Mapping[str, str]) -> None:
    """Write files, with an ``__init__.py`` in every folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        (path.parent / "__init__.py").touch()


@pytest.mark.parametrize("side", [*SIDES, "spec", "passes"])
def test_no_two_parts_repeat_each_other(side: str) -> None:
    parts = parts_of(side)
    assert len(parts) > 2
    assert not list(shared_runs(parts))


def test_a_repeated_run_is_found(tmp_path: Path) -> None:
    body = "".join(f"    x{number} = {number}\n" for number in range(SHARED_LINES + 1))
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(f'def {name}():\n    """Of {name}."""\n{body}')
    ((_, _, run),) = shared_runs([[tmp_path / "one.py"], [tmp_path / "two.py"]])
    assert len(run) == SHARED_LINES + 1
    assert not list(shared_runs([[tmp_path / "one.py", tmp_path / "two.py"]]))


def test_functions_stay_short() -> None:
    files = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    assert not too_long(function_lengths(path.read_text() for path in files))


@pytest.mark.parametrize(
    ("lines", "found"), [([7] * 9 + [19], False), ([8] * 6 + [2] * 4, True), ([7] * 8 + [20] * 2, True)]
)
def test_functions_that_grow_are_found(lines: list[int], found: bool) -> None:
    lengths = function_lengths("def function():\n" + "    pass\n" * (count - 1) for count in lines)
    assert lengths == sorted(lines)
    assert too_long(lengths) == found


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
def test_a_part_is_in_the_folder_of_its_slot_on_both_sides(part: Part) -> None:
    assert not misplaced(part)


@pytest.mark.parametrize(
    "changes",
    [
        {"rtl": "warpfile.hdl.rf.cache.file:CachedFile"},
        {"rtl": "warpfile.hdl.collectors.rfc.file:CachedFile"},
        {"golden": "warpfile.golden.rfc.file.file:CachedFile"},
        {"slot": "collectors"},
        {"name": "cache"},
    ],
)
def test_a_part_in_another_folder_is_found(changes: dict[str, str]) -> None:
    assert misplaced(dataclasses.replace(PARTS["rfc"], **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("side", SIDES)
def test_no_file_carries_the_name_of_its_part(side: str) -> None:
    assert not prefixed(part_folders(side))


def test_a_file_with_the_name_of_its_part_is_found(tmp_path: Path) -> None:
    planted(tmp_path, {"hdl/rf/rfc/rfc_lane.py": "", "hdl/rf/rfc/lane.py": "", "hdl/rf/banked/file.py": ""})
    planted(tmp_path, {"hdl/collectors/units/unit.py": "", "hdl/scheduler/two_level/places.py": ""})
    assert prefixed(part_folders("hdl", tmp_path)) == [str(tmp_path / "hdl/rf/rfc/rfc_lane.py")]


@pytest.mark.parametrize(
    "folder", part_folders("hdl") + part_folders("golden"), ids=lambda path: "-".join(path.parts[-3:])
)
def test_no_part_imports_another_part(folder: Path) -> None:
    assert not imports_of_others(folder, part_folders(folder.parts[-3]))


@pytest.mark.parametrize(
    "line",
    [
        "from warpfile.hdl.rf.rfc.lane import CacheLane",
        "from warpfile.hdl.rf.rfc import lane",
        "from warpfile.hdl.rf import rfc",
        "import warpfile.hdl.rf.rfc.lane",
        "if True:\n    import warpfile.hdl.rf.rfc as cache",
    ],
)
def test_an_import_of_another_part_is_found(tmp_path: Path, line: str) -> None:
    sound = "from warpfile.hdl.rf.contract import file_members\nfrom warpfile.hdl.rf.banked.rfc import x\n"
    planted(tmp_path, {"hdl/rf/rfc/lane.py": "", "hdl/rf/banked/file.py": sound, "hdl/rf/banked/other.py": f"{line}\n"})
    folders = sorted(path for path in (tmp_path / "hdl" / "rf").iterdir() if path.is_dir())
    assert [path for path, _ in imports_of_others(tmp_path / "hdl" / "rf" / "banked", folders)] == ["other.py"]


def test_what_only_plain_python_can_run_is_where_make_runs_it() -> None:
    mark = ".".join(("pytest", "mark", "plain"))
    marked = [path for path in (ROOT / "tests").rglob("*.py") if mark in path.read_text()]
    assert marked and all(path.is_relative_to(ROOT / "tests" / "golden") for path in marked)
    assert "-m plain tests/golden\n" in (ROOT / "Makefile").read_text()
