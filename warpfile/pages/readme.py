"""README.md: the outputs that it shows, made by their commands.

A block stands between two comments with its name. Without names all are made. With ``--scheme`` the other rows of a
block stay as they are.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

from warpfile.output.display import text_of
from warpfile.pages import bench
from warpfile.pages.writing import ROOT, page_parser, write_or_check
from warpfile.results.designs import ALL, designs
from warpfile.results.markdown import table
from warpfile.schemes import SCHEMES

PAGE = ROOT / "README.md"
BEGIN, END = "<!-- {}: python -m warpfile.pages readme {} -->\n", "<!-- {}: end -->\n"
#: What `make demo` says before the tables that are shown, and how many tables follow.
SHOWN = {"All schemes on": 1, "RTL in Verilator": 1, "What it costs:": 2}
#: Headings of columns that are different from run to run.
_UNSTEADY = re.compile(r"per second|cycles/s|build s|CPU s|compared cycles|simulator|to bare|times|speed ratio")
_RULE = re.compile(r" ─+")


class Unmade(Exception):
    """An output that could not be made."""


def demo() -> str:
    """Tables of ``make demo``, which says on standard error how far it is. Raises :class:`Unmade`."""
    done = subprocess.run([sys.executable, "-m", "warpfile", "demo"], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise Unmade(f"warpfile demo ended with status {done.returncode}")
    return f"```\n{shown(done.stdout)}```\n"


def shown(output: str) -> str:
    """The parts of an output that the page shows."""
    found: list[str] = []
    for heading, count in SHOWN.items():
        lines = iter(output[output.index(heading) :].splitlines())
        found += [next(lines), *_tables(lines, count), ""]
    return "\n".join(found[:-1]) + "\n"


def _tables(lines: Iterator[str], count: int) -> list[str]:
    """So many tables, whose lines begin with a blank, without the remarks between them."""
    found: list[str] = []
    inside = False
    for line in lines:
        if line.startswith(" ") or (inside and not line):
            found.append(line)
            inside = True
        elif inside:
            inside = False
            count -= 1
            if not count:
                break
    return found[:-1]  # the last is the empty line behind a table


def emulate() -> str:
    """Speed of the emulator."""
    names = {"collatz": "collatz (large), divergent"}
    rows = [
        (f"emulate {names.get(kernel, f'{kernel} (large)')}", f"{count:,} warp instructions", f"{rate:,.0f}")
        for kernel, count, _, rate in _measured("emulate")
    ]
    return _right(table(("what", "amount", "per second"), rows))


def lockstep(schemes: Sequence[str] = (ALL,)) -> str:
    """Speed of lockstep and bare simulator, and of generation, of every scheme."""
    made = {name: seconds for name, _, _, seconds in _measured("generate", schemes)}
    columns = ("", "preset", "cycles", "lockstep, compared cycles", "bare simulator", "lockstep to bare")
    rows = [
        (f"`{name}`", preset, *map(_whole, (cycles, compared, bare)), f"{ratio:.2f}", f"{made[name]:.1f}")
        for name, preset, cycles, compared, bare, ratio in _measured("lockstep", schemes)
    ]
    return table((*columns, "Verilog generated, CPU s"), rows)


def golden(schemes: Sequence[str] = (ALL,)) -> str:
    """Speed of golden models, as plain Python and compiled."""
    rows = [
        (f"`{name}`", *map(_whole, (cycles, plain, compiled)), "-" if times is None else f"{times:.1f}")
        for name, cycles, plain, compiled, times in _measured("golden", schemes)
    ]
    return table(("matmul_tiled (large)", "cycles", "per second, plain Python", "per second, compiled", "times"), rows)


def same_preset(schemes: Sequence[str] = (ALL,)) -> str:
    """Speed of golden models beside the baseline's at the same preset."""
    columns = ("", "preset", "IPC", "IPC of the baseline", "per second", "baseline, per second", "speed ratio")
    rows = [
        (f"`{name}`", preset, f"{own:.2f}", f"{other:.2f}", _whole(speed), _whole(beside), f"{ratio:.2f}")
        for name, preset, own, other, speed, beside, ratio in _measured("same_preset", schemes)
    ]
    return table(columns, rows)


#: Blocks with a row per scheme.
TABLES: dict[str, Callable[[Sequence[str]], str]] = {one.__name__: one for one in (lockstep, golden, same_preset)}
BLOCKS = ("demo", "emulate", *TABLES)


def _made(name: str, page: str, schemes: Sequence[str]) -> str:
    """A block; of ``schemes``, if there are any, the other rows are those of the page."""
    if name not in TABLES:
        return demo() if name == "demo" else emulate()
    return with_rows(block_of(page, name), TABLES[name](schemes)) if schemes else TABLES[name]((ALL,))


def with_rows(block: str, other: str) -> str:
    """A table in which rows of another one take the place of those of the same scheme.

    Raises ``ValueError`` if it has none of that scheme.
    """
    lines = {line.split("|")[1]: line for line in block.splitlines()}
    for line in other.splitlines()[2:]:
        scheme = line.split("|")[1]
        if scheme not in lines:
            raise ValueError(f"the table must have a row of {scheme.strip()}: make all rows, without --scheme")
        lines[scheme] = line
    return "\n".join(lines.values()) + "\n"


def _measured(part: str, schemes: Sequence[str] = (ALL,)) -> Sequence[bench.Row]:
    rows, missing = bench.measured(part, designs(schemes, None, ()))
    if missing:
        raise Unmade("; ".join(missing))
    return rows


def _whole(value: float | None) -> str:
    return "-" if value is None else text_of(round(value))


def _right(text: str) -> str:
    """Amounts with their unit, to the right as the numbers."""
    return text.replace("| --- | --- |", "| --- | ---: |", 1)


def written(page: str, name: str, block: str) -> str:
    """The page with another block of that name. Raises ``ValueError`` where it has no place for it."""
    before, begin, end, behind = _around(page, name)
    return before + begin + block + end + behind


def _around(page: str, name: str) -> tuple[str, str, str, str]:
    begin, end = BEGIN.format(name, name), END.format(name)
    before, first, rest = page.partition(begin)
    _, last, behind = rest.partition(end)
    if not first or not last:
        raise ValueError(f"README.md must have the lines {begin.strip()!r} and {end.strip()!r}")
    return before, begin, end, behind


def block_of(page: str, name: str) -> str:
    """The block of a page. Raises ``ValueError`` where it has none."""
    before, begin, end, behind = _around(page, name)
    return page[len(before + begin) : len(page) - len(end + behind)]


def steady(block: str) -> list[list[str]]:
    """The cells of a block's tables, row by row, without the columns that are different from run to run."""
    lines = block.splitlines()
    found, columns = [], list[str]()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        markdown = line.startswith("|")
        cells = [one.strip() for one in line[1:-1].split("|")] if markdown else re.split(r" {2,}", line.strip())
        if _RULE.fullmatch(following) or re.match(r"\| ?---", following):
            columns = cells
        if len(cells) == len(columns):
            cells = [cell for cell, column in zip(cells, columns, strict=True) if not _UNSTEADY.search(column)]
        found.append(cells)
    return found


def main(arguments: Sequence[str]) -> int:
    """Put the blocks them into README.md; 1 if one could not be made, which leaves the page as it was."""
    parser = page_parser("readme", __doc__)
    parser.add_argument("blocks", metavar="BLOCK", nargs="*", help=f"of {', '.join(BLOCKS)}; default: all")
    parser.add_argument("--scheme", action="append", choices=tuple(SCHEMES), help="only its rows; may be repeated")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.blocks if name not in BLOCKS]:
        parser.error(f"BLOCK must be one of {', '.join(BLOCKS)}, not {unknown[0]}")
    if options.scheme and not (options.blocks and TABLES.keys() >= set(options.blocks)):
        parser.error(f"--scheme must go with BLOCK of {', '.join(TABLES)}")
    page, blocks = PAGE.read_text(), list[str]()
    try:
        for name in options.blocks or BLOCKS:
            block = _made(name, page, options.scheme)
            page = written(page, name, block)
            blocks.append(block)
    except (Unmade, ValueError) as error:
        print(f"readme: {error}", file=sys.stderr)
        return 1
    return write_or_check(options, {PAGE: page}, blocks)
