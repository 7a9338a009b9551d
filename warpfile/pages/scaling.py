"""How time and memory of ``warpfile analyze`` grow: a table.

Listings are made up: straight code, chains of ifs with and without a convergence barrier, branches to one label with
and without one, loops in a row, nested loops, calls of one routine, and *mixed*, which is like real code.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from warpfile.output.display import followed, show_table
from warpfile.pages.writing import parser

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
LARGEST = 12_876  #: instructions of the largest real kernel that we know
_REGISTERS = 200
_MEBI = 1024  #: kibibytes


def straight(count: int) -> Iterator[str]:
    """No branch at all."""
    rng = random.Random(count)
    for _ in range(count - 1):
        yield _work(rng)


def ifs(count: int) -> Iterator[str]:
    """Ifs one after the other, without convergence barriers."""
    rng = random.Random(count)
    for number in range(count // 5):
        yield _compare(rng)
        yield f"@P0 BRA `(L{number})"
        yield _work(rng)
        yield _work(rng)
        yield f"L{number}:"
        yield _work(rng)


def synced(count: int) -> Iterator[str]:
    """The same with a convergence barrier each."""
    rng = random.Random(count)
    for number in range(count // 6):
        yield f"BSSY B0, `(L{number})"
        yield _compare(rng)
        yield f"@P0 BRA `(M{number})"
        yield _work(rng)
        yield _work(rng)
        yield f"M{number}:"
        yield "BSYNC B0"
        yield f"L{number}:"


def label(count: int) -> Iterator[str]:
    """All branches lead to one label."""
    rng = random.Random(count)
    for _ in range(count // 2 - 1):
        yield _compare(rng)
        yield "@P0 BRA `(end)"
    yield "end:"


def synced_label(count: int) -> Iterator[str]:
    """The same inside one convergence barrier."""
    yield "BSSY B0, `(behind)"
    yield from label(count - 4)
    yield "BSYNC B0"
    yield "behind:"


def loops(count: int) -> Iterator[str]:
    """Loops one after the other."""
    rng = random.Random(count)
    for number in range(count // 6):
        yield f"L{number}:"
        yield from (_work(rng) for _ in range(4))
        yield _compare(rng)
        yield f"@P0 BRA `(L{number})"


def nested(count: int) -> Iterator[str]:
    """Nests of eight loops."""
    rng = random.Random(count)
    for number in range(count // 40):
        for depth in range(8):
            yield f"L{number}_{depth}:"
            yield from (_work(rng) for _ in range(3))
        for depth in reversed(range(8)):
            yield _compare(rng)
            yield f"@P0 BRA `(L{number}_{depth})"


def calls(count: int) -> Iterator[str]:
    """Calls of one routine behind the kernel."""
    rng = random.Random(count)
    for _ in range(count // 4 - 2):
        yield from (_work(rng) for _ in range(3))
        yield "CALL.REL.NOINC `(routine)"
    yield "EXIT"
    yield "routine:"
    yield from (_work(rng) for _ in range(4))
    yield "RET.REL.NODEC R8 `(kernel)"


def mixed(count: int) -> Iterator[str]:
    """Like real code: loads and arithmetic, ifs with barriers, some of them nested, loops around a few."""
    rng = random.Random(count)
    for number in range(count // 50):
        yield f"L{number}:"
        yield f"BSSY B0, `(E{number})"
        yield _compare(rng)
        yield f"@P0 BRA `(M{number})"
        yield from (_work(rng) for _ in range(12))
        yield from (_load(rng) for _ in range(4))
        yield _compare(rng)
        yield f"@P0 BRA `(M{number})"
        yield from (_work(rng) for _ in range(23))
        yield f"M{number}:"
        yield "BSYNC B0"
        yield f"E{number}:"
        yield from (_load(rng) for _ in range(3))
        yield _compare(rng)
        yield f"@P0 BRA `(L{number})" if number % 4 == 0 else _work(rng)


SHAPES: dict[str, Callable[[int], Iterator[str]]] = {
    one.__name__: one for one in (straight, ifs, synced, label, synced_label, loops, nested, calls, mixed)
}


def _register(rng: random.Random) -> str:
    return f"R{rng.randrange(2, _REGISTERS)}"


def _work(rng: random.Random) -> str:
    return f"IADD3 {_register(rng)}, {_register(rng)}, {_register(rng)}, RZ"


def _load(rng: random.Random) -> str:
    return f"LDG.E.SYS {_register(rng)}, [R{2 * rng.randrange(1, _REGISTERS // 2)}]"


def _compare(rng: random.Random) -> str:
    return f"ISETP.LT.AND P0, PT, {_register(rng)}, {_register(rng)}, PT"


def listing(lines: Iterator[str]) -> str:
    """A listing with one function of these lines and an EXIT."""
    text, offset = ['\t.section\t.text.kernel,"ax",@progbits', "kernel:"], 0
    for line in (*lines, "EXIT"):
        if line.endswith(":"):
            text.append(line)
        else:
            text.append(f"        /*{offset:04x}*/                   {line} ;")
            offset += 16
    return "\n".join(text) + "\n"


def measured(shape: str, count: int) -> tuple[object, ...]:
    """A row: shape, instructions, blocks, seconds of processor time, peak memory in MiB; in a process of its own."""
    command = [sys.executable, "-m", "warpfile.pages", "scaling", "--one", shape, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout))


def _one(shape: str, count: int) -> tuple[object, ...]:
    """Everything that ``warpfile analyze --json`` does, writing included."""
    from warpfile.output.files import write_rows
    from warpfile.workloads.analysis import analyze_listing

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "kernel.sass"
        path.write_text(listing(SHAPES[shape](count)))
        start = time.process_time()
        facts = analyze_listing(path)
        write_rows(path.with_suffix(".json"), facts)
        seconds = time.process_time() - start
    (function,) = facts["functions"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _MEBI
    return shape, len(function["instructions"]), len(function["blocks"]), seconds, peak


def main(arguments: Sequence[str]) -> int:
    """Print one row per shape and size."""
    options_of = parser("scaling", __doc__)
    options_of.add_argument("sizes", metavar="INSTRUCTIONS", type=int, nargs="*", default=SIZES)
    options_of.add_argument("--shape", choices=tuple(SHAPES), action="append", help="this shape only; may be repeated")
    options_of.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = options_of.parse_args(arguments)
    if options.one:
        print(json.dumps(_one(options.one[0], int(options.one[1]))))
        return 0
    every = [(shape, count) for shape in options.shape or SHAPES for count in options.sizes]
    rows = [measured(*one) for one in followed("scaling", every, lambda one: f"{one[0]}, {one[1]:,} instructions")]
    show_table(("shape", "instructions", "blocks", "seconds", "MiB at most"), rows)
    return 0
