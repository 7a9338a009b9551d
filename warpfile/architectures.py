"""``python -m warpfile.architectures [sm_NN]...``: the table of ``docs/architectures.md``; needs nvdisasm."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpfile.application import Difference
from warpfile.compiler import load_listing
from warpfile.compiler.architectures import COMPARED, PRESETS, TARGET, preset
from warpfile.compiler.model import Function, Listing
from warpfile.compiler.passes.modern.covering import uncovered
from warpfile.compiler.passes.modern.paths import closest
from warpfile.display import progress, silent
from warpfile.emulator.launch import SETTINGS, load_kernel
from warpfile.emulator.run import Result, execute
from warpfile.evidence.markdown import table as markdown
from warpfile.inputs import listed
from warpfile.kernels.reference import KERNELS, names
from warpfile.kernels.toolkit import ToolError
from warpfile.run import golden_run
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace

PAGE = Path(__file__).resolve().parents[1] / "docs" / "architectures.md"
_COLUMNS = (
    "architecture",
    "functions read",
    "launches equal to NumPy",
    "preset",
    "kernels that `modern` runs there",
    "without",
    "closest readers: fixed, variable, of a low half",
    "base opcodes",
    "beyond those of sm_75",
)
_HEAD = """# Architectures

Made by `python -m warpfile.architectures`, which needs `nvdisasm`; with names as `sm_90` it makes their rows alone.
It takes the code that nvcc 13.0 makes of every bundled kernel with `-O3`, from `kernels/cubins.tar.xz`, which
`python -m warpfile.kernels.build` makes.

* *Functions read*: every instruction is one whose definitions and uses are known.
* *Launches equal to NumPy*: those of every kernel (`launch.toml` and `large.toml`), by the emulator, within the
  tolerance of the launch file.
* *Preset*: whose latencies the codes are held against. Where no preset is for that GPU, it is the nearest one. At
  another one `modern` says in a note which to use, and it refuses code for sm_80 and later at presets for sm_75.
* *Kernels that `modern` runs there*: the scheme takes their control codes, no reader comes too early on any path, and
  the golden model runs `launch.toml` to its end, which it does not with a stale operand. *Without* are the others.
  Tensor cores (sm_80 and later) and double precision (sm_90, sm_100) have a fixed latency there and a variable one
  here: the scheme gives them dependence counters ([modern.md](schemes/modern.md#5-codes-and-hints)).
* *Closest readers*: least ticks from the issue of a producer of fixed latency to that of a reader, in the codes of all
  kernels: a reader of fixed latency, one of variable latency, and the first one of the low half of a pair.

`tests/compiler/test_architectures.py` compares control flow, definitions, uses and life ranges with `nvdisasm`, of
these kernels, at `-O1` and `-O2` too, and of further sources (`tests/compiler/corpus/`, at `-O3` and `-O1`):
asynchronous copies, fragments and products of matrices in all types, reductions and votes, packed arithmetic, atomics,
textures. `tests/compiler/test_corpus.py` runs 28 of them in the emulator against NumPy. Lockstep of all kernels at the
presets: [regress-modern.md](regress-modern.md).

`warpfile trace saxpy --arch sm_90` makes a trace ([kernels.md](kernels.md#for-another-gpu)). What differs between the
generations is in [sass.md](sass.md#generations), and what is refused in [sass.md](sass.md#opcodes).

"""
_READERS = ("fixed reader", "variable reader", "low half")
_ROW = re.compile(r"^\| ((sm_\d+) \|.*) \|$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """What became of the bundled kernels on one GPU."""

    architecture: int
    functions: int
    read: int
    launches: int
    equal: int
    kernels: int
    without: tuple[str, ...]  #: kernels that ``modern`` refuses, finds uncovered or reads a stale operand of
    closest: tuple[int, ...]  #: ticks to readers, in the order of ``_READERS``
    opcodes: frozenset[str]

    def cells(self, target: frozenset[str]) -> tuple[str, ...]:
        """Its row of the page."""
        nearest = preset(self.architecture)
        machine = f"`{nearest}`" if self.architecture in PRESETS else f"none; nearest is `{nearest}`"
        return (
            f"sm_{self.architecture}",
            f"{self.read} of {self.functions}",
            f"{self.equal} of {self.launches}",
            machine,
            f"{self.kernels - len(self.without)} of {self.kernels}",
            " ".join(self.without) or "-",
            ", ".join(map(str, self.closest)),
            str(len(self.opcodes)),
            " ".join(sorted(self.opcodes - target)) or "-",
        )


def listing(name: str, architecture: int) -> Listing:
    """A bundled kernel's code for a GPU."""
    if architecture == TARGET:
        return load_listing(KERNELS / name / "kernel.sass")
    return listed(KERNELS / name, architecture, silent)


def measured(architecture: int) -> Row:
    """Read, run and annotate all kernels."""
    listings = {name: listing(name, architecture) for name in names()}
    functions = [(one, function) for one in listings.values() for function in one.functions.values()]
    cfg = find("modern").configuration(preset(architecture))
    equal, without = [], []
    for name, code in listings.items():
        results = [_executed(name, setting, code) for setting in SETTINGS]
        equal += [one is not None and all(buffer.ok for buffer in one.expectations) for one in results]
        if not (results[0] and _is_run(cfg, results[0].trace, code)):
            without.append(name)
    return Row(
        architecture=architecture,
        functions=len(functions),
        read=sum(not code.warnings for code, _ in functions),
        launches=len(equal),
        equal=sum(equal),
        kernels=len(listings),
        without=tuple(without),
        closest=_closest(function for _, function in functions),
        opcodes=opcodes(listings.values()),
    )


def opcodes(listings: Iterable[Listing]) -> frozenset[str]:
    """Base opcodes of listings."""
    functions = (function for one in listings for function in one.functions.values())
    return frozenset(one.opcode for function in functions for one in function.instructions)


def _executed(name: str, setting: str, code: Listing) -> Result | None:
    try:
        found = execute(load_kernel(KERNELS / name, setting, code))
    except ValueError as error:
        print(error, file=sys.stderr)
        return None
    return found if found.expectations else None


def _is_run(cfg: Config, trace: Trace, code: Listing) -> bool:
    try:
        golden_run(find("modern"), cfg, "", trace, silent)
    except (Difference, ValueError) as error:
        print(error, file=sys.stderr)
        return False
    return not any(uncovered(function, cfg) for function in code.functions.values())


def _closest(functions: Iterable[Function]) -> tuple[int, ...]:
    found = [closest(one, [each.control for each in one.instructions if each.control]) for one in functions]
    return tuple(min(one[reader] for one in found if reader in one) for reader in _READERS)


def page(rows: Iterable[Sequence[str]]) -> str:
    """The page with these rows."""
    return _HEAD + markdown(_COLUMNS, rows)


def main(chosen: Sequence[str]) -> int:
    """Write the page, or the named rows of it; the exit status of the command."""
    known = {f"sm_{number}": number for number in COMPARED}
    if wrong := [name for name in chosen if name not in known]:
        print(f"warpfile.architectures: GPU must be one of {', '.join(known)}, not {wrong[0]!r}", file=sys.stderr)
        return 2
    before = PAGE.read_text(encoding="utf-8") if chosen else ""
    kept = {match[2]: match[1].split(" | ") for match in _ROW.finditer(before)}
    rows: dict[str, Sequence[str]] = {name: row for name, row in kept.items() if len(row) == len(_COLUMNS)}
    target = opcodes(listing(name, TARGET) for name in names())
    found = []
    try:
        with progress("architectures") as report:
            for done, name in enumerate(chosen or known):
                report(name, done, len(chosen or known))
                found.append(measured(known[name]))
                rows[name] = found[-1].cells(target)
    except ToolError as error:
        print(f"warpfile.architectures: {error}", file=sys.stderr)
        return 2
    text = page(rows[name] for name in known if name in rows)
    PAGE.write_text(text, encoding="utf-8")
    print(text[text.index("\n|") + 1 :], end="")
    return int(any(row.equal < row.launches or row.read < row.functions for row in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
