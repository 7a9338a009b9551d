"""``python -m tests.compiler.architectures [sm_NN]...``: the table of ``docs/architectures.md``; needs nvdisasm."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.compiler import judge
from tests.compiler.corpus.build import ARCHIVE
from tests.compiler.corpus.references import REFERENCES, Reference, differences, launch
from warpfile.compiler import load_listing
from warpfile.compiler.architectures import COMPARED, PRESETS, TARGET, preset
from warpfile.compiler.model import Function, Listing
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.modern.latency_check import uncovered
from warpfile.compiler.passes.modern.paths import closest
from warpfile.emulator.launch import SETTINGS, load_kernel
from warpfile.emulator.run import Result, execute
from warpfile.kernels.packed import BUNDLED, member, unpacked
from warpfile.kernels.reference import KERNELS, names
from warpfile.kernels.toolkit import ToolError, find_tool, run_tool
from warpfile.output.difference import Difference
from warpfile.output.display import progress, silent
from warpfile.results.markdown import table as markdown
from warpfile.results.run import golden_run
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace
from warpfile.workloads.cuda import disassembled
from warpfile.workloads.inputs import listed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architectures.md"
_COLUMNS = (
    "architecture",
    "functions read",
    "cubins equal to `nvdisasm`'s reading",
    "launches equal to NumPy",
    "of the corpus: functions read",
    "cubins equal",
    "launches equal",
    "preset",
    "kernels that `modern` runs there",
    "without",
    "closest readers: fixed, variable, of a low half",
    "base opcodes",
    "beyond those of sm_75",
)
_HEAD = """# Architectures

`python -m tests.compiler.architectures` makes this table; it needs `nvdisasm`. With names such as `sm_90` it makes only
their rows. The code is that of nvcc 13.0 at `-O3` for every bundled kernel. It is in `kernels/cubins.tar.xz`, which
`python -m warpfile.kernels.build` makes. The columns:

* *Functions read*: functions in which the definitions and uses of every instruction are known.
* *Cubins equal to `nvdisasm`'s reading*: both have the same blocks and edges of the control flow, and the same defined,
  used and live registers at every instruction. `tests/compiler/judge.py` names the exceptions.
* *Launches equal to NumPy*: results of the emulator are equal within the tolerance of the launch file. The launches are
  `launch.toml` and `large.toml` of every kernel that was bundled when the row was made.
* *Of the corpus*: the same for further sources, `tests/compiler/corpus/`, at `-O3` and `-O1`. They have asynchronous
  copies, fragments and products of matrices in all types, reductions and votes, packed arithmetic, atomics, and
  textures. Functions that are not read use features that are refused by name: TMA, clusters, `wgmma`, `tcgen05`,
  barrier objects and a few more (`UNKNOWN` in `tests/compiler/test_architectures.py`). Sources with a reference are
  launched.
* *Preset*: its latencies are those that the codes must fit. A GPU without a preset has the nearest one. At another
  preset `modern` prints a note that names the right one. It refuses code for sm_80 and later at presets for sm_75.
* *Kernels that `modern` runs there*: three conditions hold.
  * The scheme takes their control codes.
  * No reader comes too early on any path.
  * The golden model runs `launch.toml` to its end; it would stop at a stale operand.

  Other kernels are in the column *without*. Tensor cores (sm_80 and later) and double precision (sm_90, sm_100) have a
  fixed latency in these GPUs and a variable one here. The scheme gives them dependence counters
  ([modern.md](schemes/modern.md#5-codes-and-hints)).
* *Closest readers*: the least ticks from the issue of a producer of fixed latency to the issue of a reader, over the
  codes of all kernels. There are three numbers:
  * for a reader of fixed latency;
  * for a reader of variable latency;
  * for the first reader of the low half of a pair.

`tests/compiler/test_architectures.py` and `test_corpus.py` test all columns, also for the bundled kernels at `-O1`
and `-O2`. Lockstep at the presets: [regress-modern.md](regress-modern.md).

`warpfile trace saxpy --arch sm_90` makes a trace ([kernels.md](kernels.md#for-another-gpu)). What differs between the
generations is in [sass.md](sass.md#generations), and what is refused in [sass.md](sass.md#opcodes).

"""
_READERS = ("fixed reader", "variable reader", "low half")
_ROW = re.compile(r"^\| ((sm_\d+) \|.*) \|$", re.MULTILINE)


#: General registers live by us and not by nvdisasm, which takes a guarded result for written: that of an atomic in all
#: lanes, others in those that a branch with the same guard takes.
SPARED = {
    "sm_80/atomics-O3.cubin": {2},
    "sm_86/atomics-O3.cubin": {2},
    "sm_89/atomics-O3.cubin": {2},
    "sm_120/atomics-O1.cubin": {6},
    "sm_100/bytecode.cubin": {4},
    "sm_120/bytecode.cubin": {4},
    "sm_100/bytecode-O1": {0},
    "sm_120/bytecode-O1": {0},
    "sm_100/bytecode-O2": {4},
    "sm_120/bytecode-O2": {4},
}


@dataclass(frozen=True)
class Row:
    """What became of the bundled kernels on one GPU."""

    architecture: int
    functions: tuple[int, int]  #: read, and all
    cubins: tuple[int, int]  #: equal to the judge's reading
    launches: tuple[int, int]  #: equal to NumPy's results
    corpus: tuple[tuple[int, int], ...]  #: the same three of the corpus
    kernels: int
    without: tuple[str, ...]  #: kernels that ``modern`` refuses, finds uncovered or reads a stale operand of
    closest: tuple[int, ...]  #: ticks to readers, in the order of ``_READERS``
    opcodes: frozenset[str]

    @property
    def counts(self) -> tuple[tuple[int, int], ...]:
        """All of what is counted against a number."""
        return (self.functions, self.cubins, self.launches, *self.corpus)

    def cells(self, target: frozenset[str]) -> tuple[str, ...]:
        """Its row of the page."""
        nearest = preset(self.architecture)
        machine = f"`{nearest}`" if self.architecture in PRESETS else f"none; nearest is `{nearest}`"
        return (
            f"sm_{self.architecture}",
            *(f"{found} of {all_}" if all_ else "-" for found, all_ in self.counts),
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
        functions=(sum(not code.warnings for code, _ in functions), len(functions)),
        cubins=_counted(is_judged_equal(cubin, one) for one, cubin in _bundled(architecture).items()),
        launches=_counted(equal),
        corpus=_corpus(architecture),
        kernels=len(listings),
        without=tuple(without),
        closest=_closest(function for _, function in functions),
        opcodes=opcodes(listings.values()),
    )


def _counted(found: Iterable[bool]) -> tuple[int, int]:
    every = list(found)
    return sum(every), len(every)


def _bundled(architecture: int) -> dict[str, bytes]:
    """Cubins of the bundled kernels, by the names that ``SPARED`` has."""
    if architecture == TARGET:
        return {name: (KERNELS / name / "kernel.cubin").read_bytes() for name in names()}
    return {member(name, architecture): unpacked(BUNDLED)[member(name, architecture)] for name in names()}


def _corpus(architecture: int) -> tuple[tuple[int, int], ...]:
    """Of the corpus for a GPU: functions read, cubins equal, launches equal, each with how many there are."""
    cubins = {name: code for name, code in unpacked(ARCHIVE).items() if name.startswith(f"sm_{architecture}/")}
    listings = {name: disassembled(code, name) for name, code in cubins.items()}
    sources = {name: name.partition("/")[2].rpartition("-")[0] for name in cubins}
    read = [
        all(is_known(instruction.opcode) for instruction in function.instructions)
        for code in listings.values()
        for function in code.functions.values()
    ]
    launches = [
        _computes(listings[name], REFERENCES[source]()) for name, source in sources.items() if source in REFERENCES
    ]
    judged = (is_judged_equal(code, name) for name, code in cubins.items())
    return _counted(read), _counted(judged), _counted(launches)


def _computes(code: Listing, reference: Reference) -> bool:
    try:
        return not differences(execute(launch(code, reference)).buffers, reference)
    except ValueError as error:
        print(error, file=sys.stderr)
        return False


def placed_at(place: Path, cubin: bytes) -> Path:
    """The cubin as a file, with its listing beside it."""
    path = place / "kernel.cubin"
    path.write_bytes(cubin)
    path.with_suffix(".sass").write_text(run_tool([str(find_tool("nvdisasm")), "-hex", str(path)]))
    return path


def is_judged_equal(code: bytes, name: str) -> bool:
    """Whether graphs and life ranges of a cubin are those of nvdisasm; ``name`` is that of ``SPARED``."""
    with tempfile.TemporaryDirectory() as folder:
        cubin = placed_at(Path(folder), code)
        found = load_listing(cubin.with_suffix(".sass"))
        try:
            judge.compare_graphs(cubin, found)
            judge.compare_life_ranges(cubin, found, frozenset(SPARED.get(name, ())))
        except AssertionError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return False
    return True


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
        print(f"tests.compiler.architectures: GPU must be one of {', '.join(known)}, not {wrong[0]!r}", file=sys.stderr)
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
        print(f"tests.compiler.architectures: {error}", file=sys.stderr)
        return 2
    text = page(rows[name] for name in known if name in rows)
    PAGE.write_text(text, encoding="utf-8")
    print(text[text.index("\n|") + 1 :], end="")
    return int(any(equal < every for row in found for equal, every in row.counts[:3]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
