"""What an array of bits takes in a cell library: latches behind multiplexers, or macros by their datasheets.

Memories of the schemes are described once, as :class:`warpfile.synth.arrays.Array`; docs/arrays.md has the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

from warpfile.spec.reading import read_toml
from warpfile.spec.structure import Ram
from warpfile.synth.arrays import Array, slices
from warpfile.synth.boolean import truth_table
from warpfile.synth.cacti import ports_of
from warpfile.synth.dont_use import dont_use
from warpfile.synth.liberty import Cell, Liberty
from warpfile.synth.rules import LIST, NUMBER, TEXT, WHOLE, check

MACROS = Path(__file__).with_name("macros.toml")
#: Arrays of more rows are macros, where the library has one with such ports.
LATCH_ROWS = 64
LATCHES, FLIP_FLOPS = "latches", "flip-flops"


def dense_um2(node_nm: float) -> float:
    """The densest published memory, 0.94 Mb/mm2 at 45 nm, scaled with the square of the node: um2 per bit."""
    return (node_nm / 45) ** 2 / 0.94


#: That of 130 nm.
DENSE_UM2 = dense_um2(130)


@dataclass(frozen=True)
class Ports:
    """Ports by what they can do in one cycle."""

    either: int
    reads: int
    writes: int

    @classmethod
    def of(cls, text: str) -> Ports:
        """Ports as of :class:`warpfile.spec.structure.Ram`. Raises ``ValueError`` for other text."""
        found = ports_of(text)
        return cls(found["RW"], found["R"], found["W"])

    @property
    def reading(self) -> int:
        """Those that can read."""
        return self.either + self.reads

    @property
    def writing(self) -> int:
        """Those that can write."""
        return self.either + self.writes


@dataclass(frozen=True)
class Macro:
    """A memory macro of a PDK; ``library`` begins the names of the PDK's cells."""

    name: str
    library: str
    rows: int
    width: int
    ports: str
    um2: float
    clock_to_output_ns: float
    source: str

    @property
    def um2_per_bit(self) -> float:
        """Area of one of its bits, everything around it included."""
        return self.um2 / (self.rows * self.width)

    def copies(self, array: Array) -> int:
        """How often it has to hold a word of an array for all its reads; 0 where its ports do not do.

        Every copy takes all writes.
        """
        ours, asked = Ports.of(self.ports), Ports.of(array.ports)
        left = ours.either + ours.reads + ours.writes - asked.either - asked.writes
        if ours.writing < asked.writing or (asked.reads and left < 1):
            return 0
        return -(-asked.reads // left) if asked.reads else 1

    def needed(self, array: Array) -> int:
        """How many of it make an array; 0 where its ports do not do."""
        return self.copies(array) * -(-array.rows // self.rows) * -(-array.width // self.width)


@dataclass(frozen=True)
class Built:
    """An array in a library: of what, how many macros (0: of cells), its area, and the macro's own access time.

    Of a macro that it fills in part it has that part of the area.
    """

    array: Array
    form: str
    macros: int
    um2: float
    clock_to_output_ns: float | None = None

    @property
    def um2_per_bit(self) -> float:
        """Area of one of the array's bits."""
        return self.um2 / (self.array.rows * self.array.width)


def built(array: Array, library: Liberty, macros: Sequence[Macro]) -> Built:
    """The array as docs/arrays.md says: latches up to ``LATCH_ROWS`` rows, above them the macros that are least in sum.

    Latches too where the library has no macro with such ports. Raises ``ValueError`` for a library without latches.
    """
    theirs = (one for one in macros if any(cell.startswith(one.library) for cell in library.cells))
    macro = min(
        filter(lambda one: one.needed(array), theirs), key=lambda one: one.needed(array) * one.um2, default=None
    )
    if array.rows <= LATCH_ROWS or macro is None:
        return of_latches(array, library)
    um2 = macro.copies(array) * array.rows * array.width * macro.um2_per_bit
    return Built(array, macro.name, macro.needed(array), um2, macro.clock_to_output_ns)


def memory_areas(rams: Mapping[str, Ram], library: Liberty, node_nm: float) -> dict[str, float]:
    """Area in um2 of one instance of each memory, of which the library is of such a node.

    Memories that the library cannot build have the density of the densest published one: all where it has no latches,
    and those of more than ``LATCH_ROWS`` rows where it has no macros.
    """
    macros = [one for one in read_macros() if any(cell.startswith(one.library) for cell in library.cells)]
    dense, latches = dense_um2(node_nm), any(cell.latch and cell.area > 0 for cell in library.cells.values())
    found = {}
    for name, ram in rams.items():
        array = Array.of(ram)
        known = latches and (macros or array.rows <= LATCH_ROWS)
        found[name] = ram.arrays * slices(ram) * built(array, library, macros).um2 if known else ram.bits * dense
    return found


def of_latches(array: Array, library: Liberty) -> Built:
    """A latch per bit, a clock gate per row, multiplexers per reading port, a register per writing port.

    With several writing ports every latch has multiplexers that choose among them.
    """
    ports, bits = Ports.of(array.ports), array.rows * array.width
    um2 = array.rows * library.latched_area(array.width)
    um2 += ports.writing * array.width * flip_flop_area(library)
    um2 += bits * multiplexed(ports.writing, library)
    return Built(array, LATCHES, 0, um2 + _read(array, ports, library))


def of_flip_flops(array: Array, library: Liberty) -> Built:
    """A flip-flop per bit, which holds its value or takes that of a writing port, and the same multiplexers."""
    ports, bits = Ports.of(array.ports), array.rows * array.width
    um2 = bits * (flip_flop_area(library) + multiplexed(ports.writing + 1, library))
    return Built(array, FLIP_FLOPS, 0, um2 + _read(array, ports, library))


def _read(array: Array, ports: Ports, library: Liberty) -> float:
    return ports.reading * array.width * multiplexed(array.rows, library)


def flip_flop_area(library: Liberty) -> float:
    """Of the smallest flip-flop that a designer uses."""
    return min(_areas(library, lambda cell: cell.flip_flop))


def multiplexed(words: int, library: Liberty) -> float:
    """Area of what chooses one bit of so many: multiplexers of four, and of two for what is left.

    A multiplexer of four that the library has not is three of two; one of two is three NAND2.
    """
    two, four = _multiplexers(library)
    area = 0.0
    while words > 1:
        fours, rest = divmod(words, 4)
        area += fours * four + max(rest - 1, 0) * two
        words = fours + (rest > 0)
    return area


_KNOWN: dict[str, tuple[float, float]] = {}


def _multiplexers(library: Liberty) -> tuple[float, float]:
    """Areas of what chooses one of two and one of four, found once per library."""
    if library.text not in _KNOWN:
        two = min(_areas(library, lambda cell: is_multiplexer(cell, 2)), default=3 * library.nand2_area)
        _KNOWN[library.text] = two, min(_areas(library, lambda cell: is_multiplexer(cell, 4)), default=3 * two)
    return _KNOWN[library.text]


def _areas(library: Liberty, wanted: Callable[[Cell], bool]) -> list[float]:
    """Areas of such cells, multiplexers of four among them, which the timed flow leaves out because they are slow."""
    unused = dont_use(library.cells)
    usable = (cell for name, cell in library.cells.items() if name not in unused or "mux4" in name)
    return [cell.area for cell in usable if cell.area > 0 and wanted(cell)]


def is_multiplexer(cell: Cell, ways: int) -> bool:
    """Whether the cell's output is the one of so many inputs whose number the other inputs say, in any order."""
    pins, selects = cell.inputs, ways.bit_length() - 1
    if len(cell.functions) != 1 or len(pins) != ways + selects or cell.flip_flop or cell.latch:
        return False
    try:
        table = truth_table(*cell.functions.values(), pins)
    except ValueError:
        return False
    rows = list(zip(product((False, True), repeat=len(pins)), table, strict=True))
    return any(_chooses(rows, chosen) for chosen in combinations(range(len(pins)), selects))


def _chooses(rows: Sequence[tuple[tuple[bool, ...], bool]], selects: Sequence[int]) -> bool:
    """Whether, for each value of the pins ``selects``, the output is another one of the other pins."""
    taken: dict[tuple[bool, ...], set[int]] = {}
    for pins, output in rows:
        same = {at for at, pin in enumerate(pins) if pin == output and at not in selects}
        number = tuple(pins[at] for at in selects)
        taken[number] = taken.get(number, same) & same
    return all(len(one) == 1 for one in taken.values()) and len(set().union(*taken.values())) == len(taken)


_OF_MACRO = {
    "name": TEXT,
    "library": TEXT,
    "rows": WHOLE,
    "width": WHOLE,
    "ports": TEXT,
    "um2": NUMBER,
    "clock_to_output_ns": NUMBER,
    "source": TEXT,
}


def read_macros(path: Path = MACROS) -> tuple[Macro, ...]:
    """The datasheets. Raises ``ValueError`` with file, place and rule for a file that cannot be used."""
    table: Mapping[str, list[dict[str, object]]] = read_toml(path)
    check(table, {"macros": LIST}, str(path))
    for number, one in enumerate(table["macros"], 1):
        check(one, _OF_MACRO, f"{path}: macro {number}")
    return tuple(Macro(**one) for one in table["macros"])  # type: ignore[arg-type]
