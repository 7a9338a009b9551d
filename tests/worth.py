"""What the tests find: ``python -m tests.worth`` plants faults in the sources, one at a time, and notes what fails.

A fault is one changed operator or statement of a source of the golden models, of the RTL or of the passes, drawn with a
seed, or one that this project had. Every fault gets a copy of the repository and a run of the tests of ``make test``
that can see it; where none of them fails, those that ``make check`` has beside them run too. What was found lies in
``build/worth/found.json``. With a ``junit.xml`` of sound sources it is printed with the processor time of the tests.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.times import cases

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "build" / "worth"
#: Where faults are planted: folder, and the folders of tests that can see one there.
PLACES = {
    "hdl": ("hdl", "formal", "sim", "machines", "schemes"),
    "golden": ("golden", "sim", "machines", "schemes"),
    "compiler/passes": ("compiler", "schemes", "sim"),
    "compiler": ("compiler", "emulator", "kernels"),
    "emulator": ("emulator", "kernels"),
    "spec": ("spec", "emulator", "fuzz"),
}
#: Faults that this project had, as today's sources would have them: the commit that mended it, source, text and fault.
HISTORY = [
    (
        "5a1b0b85",
        "compiler/operand_widths.py",
        'return 1 if isinstance(operand, Register) and "F32" in operand.marks else 2',
        "return 2",
    ),
    ("6039c67", "hdl/naming.py", "if not len(value):", "if False:"),
    (
        "4bdbfb9",
        "golden/rf/packed/stages.py",
        "self._unmapped[result.warp].pop(result.register, NEVER_WRITTEN)",
        "NEVER_WRITTEN",
    ),
    ("ff1565c", "golden/rf/pilot/phases.py", "self._launched = warp", "self._settle(warp)"),
    ("f10bc1c", "compiler/instruction_text.py", "if encoding is not None:", "if False:"),
    ("cf5b7da", "emulator/float32.py", "if flush else single", "if False else single"),
    ("2719292", "spec/reading.py", "    TypeError: ", "    ZeroDivisionError: "),
]
#: Where faults are drawn.
DRAWN = ("hdl", "golden", "compiler/passes")
#: Operators and what takes their place. Precedence stays the same, or parentheses keep it.
_OPERATORS: dict[type, str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.And: "or",
    ast.Or: "and",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.Add: "-",
    ast.Sub: "+",
}
_LIMIT = 900.0  #: seconds of the clock for the tests of one fault
QUICK, COSTLY = "not regress and not check", "not regress and check"  #: what make test runs, and make check beside it


@dataclass(frozen=True)
class Fault:
    """One change of a source: from ``start`` to ``end`` of its text stands ``text`` instead."""

    path: str
    line: int
    start: int
    end: int
    text: str
    what: str

    def planted(self, source: str) -> str:
        """The source with the fault."""
        return source[: self.start] + self.text + source[self.end :]


def faults(path: str, source: str) -> Iterator[Fault]:
    """Every fault that can be planted in a source, in the order of its text."""
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return lines[node.lineno - 1] + node.col_offset, lines[node.end_lineno - 1] + node.end_col_offset

    for node in _walk(ast.parse(source)):
        for start, end, text in _changes(node, source, span):
            what = f"{' '.join(source[start:end].split())} -> {' '.join(text.split())}"
            yield Fault(path, source.count("\n", 0, start) + 1, start, end, text, what)


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Every node below one but annotations, which are not executed."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in ("annotation", "returns"):
                yield child
                yield from _walk(child)


def _changes(
    node: ast.AST, source: str, span: Callable[[ast.expr | ast.stmt], tuple[int, int]]
) -> Iterator[tuple[int, int, str]]:
    """Start, end and new text of the changes of one node."""

    def text(part: ast.expr) -> str:
        start, end = span(part)
        return source[start:end]

    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
        yield *span(node), f"({text(node.left)}) {_OPERATORS[type(node.ops[0])]} ({text(node.comparators[0])})"
    elif isinstance(node, ast.BoolOp):
        yield *span(node), "(" + f" {_OPERATORS[type(node.op)]} ".join(f"({text(one)})" for one in node.values) + ")"
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        yield *span(node), f"(({text(node.left)}) {_OPERATORS[type(node.op)]} ({text(node.right)}))"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield *span(node), f"({text(node.operand)})"
    elif (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Mux" and len(node.args) == 3
    ):
        choice, first, second = map(text, node.args)
        yield *span(node), f"Mux({choice}, {second}, {first})"
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield *span(node), "pass"


def drawn(count: int, seed: int, place: str) -> list[Fault]:
    """So many faults of a folder, no two in one source while there are others."""
    chooser = random.Random(f"{seed} {place}")
    sources = [path for path in sorted((ROOT / place).rglob("*.py")) if path.name != "__init__.py"]
    found = []
    while sources and len(found) < count:
        path = sources.pop(chooser.randrange(len(sources)))
        if possible := list(faults(str(path.relative_to(ROOT)), path.read_text())):
            found.append(chooser.choice(possible))
    return found


def of_history() -> list[Fault]:
    """The faults that this project had. Raises ``ValueError`` for one whose text is not in its source once."""
    found = []
    for commit, path, text, fault in HISTORY:
        source = (ROOT / path).read_text()
        if source.count(text) != 1:
            raise ValueError(f"{path} must have {text!r} once, of {commit}")
        start = source.index(text)
        line = source.count("\n", 0, start) + 1
        found.append(Fault(path, line, start, start + len(text), fault, f"as before {commit}"))
    return found


def concerned(fault: Fault) -> set[str]:
    """Schemes that a fault can show in: those with a part of the folder's name, or the baseline and two for all."""
    from warpfile.schemes import SCHEMES

    folders = set(Path(fault.path).parts[:-1])
    own = {
        name
        for name, scheme in SCHEMES.items()
        if folders & {part.name for part in scheme.chosen} - {"banked", "units"} or name.split("_")[0] in folders
    }
    return own or {"baseline", "bow_wr", "rfc"}


def pytest_collection_modifyitems(config, items: list) -> None:
    """Used as a plugin: leave out the tests of schemes that the fault does not concern, and of the parts of these."""
    from warpfile.schemes import PARTS, SCHEMES, variants

    wanted = set(os.environ["WARPFILE_WORTH"].split(","))
    others = {*SCHEMES, *variants()} - wanted
    parts = {part.name for part in PARTS.values()} - {p.name for one in wanted for p in SCHEMES[one].chosen}

    def left_out(item) -> bool:
        values = getattr(item, "callspec", None)
        named = {str(value).partition("+")[0] for value in values.params.values()} if values else set()
        return bool(named & others or parts.intersection(re.split(r"[^a-z_]", item.nodeid)))

    config.hook.pytest_deselected(items=[item for item in items if left_out(item)])
    items[:] = [item for item in items if not left_out(item)]


def failing(fault: Fault, scratch: Path, marks: str) -> list[str]:
    """Names of the tests with these marks that fail in a copy with the fault, as junit has them: file and test."""
    copy = scratch / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
    (copy / "build").symlink_to(scratch / "build")
    source = copy / fault.path
    source.write_text(fault.planted(source.read_text()))
    place = next(one for one in PLACES if fault.path.startswith(one))
    folders = [f"tests/{name}" for name in PLACES[place]]
    report = scratch / "junit.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", "--dist", "worksteal"]
    command += ["-p", "tests.worth", "-m", marks]
    environment = {"PYTHONPATH": str(copy), "WARPFILE_WORTH": ",".join(sorted(concerned(fault)))}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    try:
        with (scratch / "log").open("w") as log:
            subprocess.run(
                [*command, f"--junitxml={report}", *folders],
                cwd=copy,
                env=os.environ | environment,
                stdout=log,
                stderr=log,
                timeout=_LIMIT,
                check=False,
            )
    except subprocess.TimeoutExpired:
        return ["the tests did not end"]
    return sorted(_failed(report)) if report.exists() else ["the tests did not start"]


def _failed(report: Path) -> Iterator[str]:
    for case in xml.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            place = case.get("classname", "").removeprefix("tests.").replace(".", "/")
            yield f"{place}: {case.get('name')}"


def table(found: Iterable[Mapping], costs: Mapping[str, float]) -> str:
    """Files of tests with the faults that each finds, those that no other one finds, and its time; Markdown."""
    rows = list(found)
    killers = [{name.partition(":")[0] for name in row["failing"]} for row in rows]
    lines = ["| tests | CPU s | faults found | by no other file | faults per 100 s |", "|---|---:|---:|---:|---:|"]
    files = sorted(set().union(*killers), key=lambda file: -sum(file in some for some in killers))
    for file in files:
        finds, alone = sum(file in some for some in killers), sum(some == {file} for some in killers)
        seconds = costs.get(file, 0.0)
        lines.append(f"| {file} | {seconds:.0f} | {finds} | {alone} | {100 * finds / max(seconds, 1):.1f} |")
    quick = sum(row["quick"] for row in rows)
    return "\n".join(
        [*lines, f"\nOf {len(rows)} faults make test finds {quick}, make check {sum(map(bool, killers)) - quick} more."]
    )


def _found_by(fault: Fault, marks: str, sound: set[str]) -> list[str]:
    return [name for name in failing(fault, HOME, marks) if name not in sound]


def main() -> None:
    """Plant the faults that are asked for and print what was found."""
    parser = argparse.ArgumentParser(description="Plant faults in the sources and note which tests fail.")
    parser.add_argument("--count", type=int, default=10, help="faults in each of " + ", ".join(DRAWN))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=Path, default=ROOT / "build" / "junit.xml", help="junit.xml of sound sources")
    options = parser.parse_args()
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / "build").unlink(missing_ok=True)
    (HOME / "build").symlink_to(ROOT / "build")  # what a fault does not change is built already
    kept = HOME / "found.json"
    found = json.loads(kept.read_text()) if kept.exists() else []
    sound = set(_failed(options.times)) if options.times.exists() else set()  # what fails anyway
    known = {(row["path"], row["start"], row["text"]) for row in found}
    rounds = zip(*(drawn(options.count, options.seed, place) for place in DRAWN), strict=False)
    for fault in (*of_history(), *(one for some in rounds for one in some)):
        if (fault.path, fault.start, fault.text) in known:
            continue
        quick, costly = _found_by(fault, QUICK, sound), list[str]()
        if not quick:
            costly = _found_by(fault, COSTLY, sound)
        said = f"{len(quick)} tests of make test fail" if quick else f"{len(costly)} of make check"
        print(f"{fault.path}:{fault.line}: {fault.what}: {said}", flush=True)
        found.append(asdict(fault) | {"failing": quick or costly, "quick": bool(quick)})
        kept.write_text(json.dumps(found, indent=1))
    costs: dict[str, float] = {}
    for case in cases(options.times) if options.times.exists() else ():
        file = case.name.partition(":")[0]
        costs[file] = costs.get(file, 0.0) + case.cpu
    print(table(found, costs))


if __name__ == "__main__":
    main()
