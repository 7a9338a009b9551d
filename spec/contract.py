"""What collectors ask of a register file and what it gives: the contract of the two slots, in numbers.

Both are properties of a configuration (``Config.asks``, ``Config.gives``), so that golden model and RTL of either side
build the same ports (docs/architecture.md, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

#: The order at a free bank port: an engine above the results, then the results, then an engine between them and the
#: reads, then the reads of the collectors, then an engine below them.
PRIORITIES = ("results", "reads", "last")


@dataclass(frozen=True)
class Engine:
    """A group of ``count`` clients that reach the banks beside the collectors' reads and the results.

    ``before``: they go before the results, before the reads, or after both (``PRIORITIES``). ``reads``: they read as
    well as write. ``masked``: a write has a mask of lanes; without one it writes the whole row.
    """

    name: str
    count: int
    before: str = "reads"
    reads: bool = False
    masked: bool = False

    def __post_init__(self) -> None:
        if self.before not in PRIORITIES:
            raise ValueError(f"before must be one of {', '.join(PRIORITIES)}, not {self.before}")


def client_count(engines: tuple[Engine, ...], kind: str = "all") -> int:
    """Clients of all engines, or of those that are of a kind (``reads``, ``masked``)."""
    return sum(engine.count for engine in engines if kind == "all" or getattr(engine, kind))


#: Bytes of a lane; where a value may have fewer than all (``Gives.slices``), each has a place of its own in a row.
SLICES = 4
#: What sources one access may bring together: none, two of one row, two of one bank whose slices do not meet.
JOINS = ("none", "row", "planes")


@dataclass(frozen=True)
class Asks:
    """What the collectors of a configuration ask.

    ``units`` hold the beats that wait for operands. ``slots``: requests per unit, numbered unit * slots + slot.
    ``sources``: they ask for the places of the offered beat's sources, where a place is known at once. ``lookups``:
    registers per warp whose place they ask for in any cycle, beside those. ``result_banks``: they want to know to which
    bank a result goes. ``keeps``: they may keep a result from the file. ``engines``: their own clients at the banks.
    ``joins``: two sources of a beat that one access may bring, of ``JOINS``. ``evicts``: they give registers back by
    name, one per cycle, because what they keep does not tell where it belongs. ``guards``: they decide for every head
    beat whether it may issue, and the frame has no scoreboard. ``forwards``: so many of a beat's sources, from slot 0
    on, may be pending when it issues, if the collectors say that their results are coming.
    """

    units: int
    slots: int
    sources: bool = True
    lookups: int = 0
    result_banks: bool = False
    keeps: bool = False
    engines: tuple[Engine, ...] = ()
    joins: str = "none"
    evicts: bool = False
    guards: bool = False
    forwards: int = 0


@dataclass(frozen=True)
class Gives:
    """What the register file of a configuration gives.

    ``later``: it looks sources up after their beat was taken, one unit per cycle, and may have them near (``near_bits``
    name the copy, ``note_bits`` of the offered beat come back when the copy is read; 0: nothing is near), and may put a
    look-up off that does not suit the lanes of the beat (``defers``); otherwise a place is known in the cycle of the
    offer, and with ``near_bits`` also what is near. ``cycles``: the longest access. ``kernel``: it takes part in the
    start and the end of a kernel. ``sweeps``: a warp's slot and places are free some time after its EXIT. ``starts``:
    after reset it works before it could take a kernel or a launch, and ``started`` says when that is over. ``engines``:
    its own clients at the banks. ``gates``: it sees the head beats and what is pending, and may refuse a head beat that
    was chosen. ``absent``: a register of a warp may have no place; what is written there is accepted and lost.
    ``renamed``: a table says where a register is and which slices of the row it has; slots are looked up one by one and
    answered in the cycle after. ``brings``: sources that are near may be copied when their bank is read.
    ``keeps_places``: a warp has something in its place that is lost with it, so that a scheduler lets go of it only
    where the program allows. ``slices``: a value may have fewer than all four. ``deaths``: units tell which registers
    are dead. ``lead``: cycles by which results with a register are shown before those of a file without. ``absorbs``:
    beats of the LSU's port pass through the file, which may keep a load whose data it has. ``lookahead``: it tells the
    scheduler of warps whose next load will find its data there. ``ranks``: it tells the scheduler which warps own
    registers that two warps share, and which do not own what they share. ``twins``: every bank has a twin with as many
    rows, and a register is in one of the two. A place says in which (golden: banks from ``cfg.banks`` on are twins).
    """

    later: bool = False
    near_bits: int = 0
    note_bits: int = 0
    defers: bool = False
    cycles: int = 1
    kernel: bool = False
    sweeps: bool = False
    starts: bool = False
    engines: tuple[Engine, ...] = ()
    gates: bool = False
    brings: bool = False
    keeps_places: bool = False
    absent: bool = False
    renamed: bool = False
    slices: bool = False
    deaths: bool = False
    lead: int = 0
    absorbs: bool = False
    lookahead: bool = False
    ranks: bool = False
    twins: bool = False


@dataclass(frozen=True)
class Hint:
    """Bits that an annotation pass puts on every beat for one part; ``returns``: they come back with the results.

    ``meaning`` and ``encoding`` tell an integrator what to put there; where that is one of a list, ``values`` names
    them instead.
    """

    name: str
    bits: int
    returns: bool = False
    meaning: str = ""
    encoding: str = ""
    values: tuple[tuple[int, str], ...] = ()
