"""What a machine and its collectors ask of a register file (docs/slots/rf.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.contract import Heads
from warpfile.golden.completion import Completion
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Access
from warpfile.golden.rf.engine import EnginePort
from warpfile.golden.rf.renaming import Mapped
from warpfile.spec.beat import Beat
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.stimulus import Result

#: Bank and row of a register; of one that has no place now, the complement of the row (``cfg.gives.absent``).
Place = tuple[int, int]


@mypyc_attr(allow_interpreted_subclasses=True)
class RegisterFile(Protocol):
    """Storage of all registers, made as ``Kind(cfg, layout, places)``; ``places`` of the scheduler, None without.

    What it gives is said in numbers by ``cfg.gives``, what is asked of it by ``cfg.asks``. Data are copies
    (``golden.copies``): a row of the trace, or what is left of one. ``hold``: warps whose head beat must not issue,
    read at the beginning of a cycle. What goes into ``completion`` for a cycle is told to the scoreboard at its end.
    ``launch_ready``: a launch is taken in this cycle; it changes at the edge only. ``engines``: the collectors' own
    clients at the banks, by name.

    The calls of a cycle, in this order (those in brackets only if there is something to be asked):

    1. [``release``], [``unwritten``], [``near``], [``deferred``]: over registered state, before anything changes.
    2. ``accept``: results take their ports; what must go before the collectors' reads goes now. In cycles without a
       result only if the file ``drives_itself``.
    3. [``engines[...].grant``] before the reads, [``read``], [``engines[...].grant``] after them. A row is read as it
       was at the beginning of the cycle.
    4. [``near_data``], then [``look_up``]: they see what this cycle's results did.
    5. [``place``, ``note``] of the offered beat's sources (``place`` at any time of a cycle), [``issued``].
    6. [``launched``], then ``edge``, always: rows change.
    """

    hold: int
    launch_ready: bool
    drives_itself: bool
    completion: Completion
    engines: Mapping[str, EnginePort]

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the start, by name."""

    def release(self, places: int) -> int:
        """Of the places that are to be let go (a mask, not 0), those that the file lets go of in this cycle."""

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """Write-back ports whose result is accepted, of the ``valid`` ones; those in ``store`` have to be stored.

        A valid result that need not be stored is accepted. Every accepted result completes.
        """

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """Serve source slots, of those that ask each bank (a mask). ``rows`` by slot, ``order``: units by age."""

    def place(self, warp: int, register: int) -> Place:
        """Where a register of a resident warp is read and written."""

    def issued(self, warp: int, entry: Entry) -> None:
        """The head beat of a warp issues."""

    def launched(self, launch: Launch) -> None:
        """A warp is resident from the next cycle."""

    def edge(self, cycle: int) -> int:
        """End the cycle and return all probes of the file in it."""


@mypyc_attr(allow_interpreted_subclasses=True)
class LateFile(RegisterFile, Protocol):
    """A register file that looks sources up after their beat was taken (``cfg.gives.later``), one unit per cycle."""

    def note(self, beat: Beat) -> int:
        """What a unit has to return when it reads the near sources of this beat."""

    def unwritten(self, slots: int, banks: list[int], rows: list[int]) -> int:
        """Of the source slots in a mask, those whose row has yet to be written; bank and row by slot."""

    def look_up(self, warp: int, sources: tuple[int, ...]) -> list[int]:
        """Names of the copies that are near, -1 for others. A copy stays until it is read."""

    def deferred(self, warp: int, sources: tuple[int, ...], lanes: int) -> bool:
        """Whether the look-up that is next has to wait in this cycle; asked only with ``cfg.gives.defers``."""

    def near(self, copies: list[int]) -> None:
        """These copies are read in this cycle, all by one unit."""

    def near_data(self, copies: list[int], slots: list[int], note: int) -> list[int]:
        """The copies that :meth:`near` announced; their source slots and the beat's note tell their use."""


class Bring(NamedTuple):
    """A source slot that asks its bank now, and the copy that it makes of what it reads, in some lanes."""

    slot: int
    copy: int
    lanes: int


@mypyc_attr(allow_interpreted_subclasses=True)
class LeveledFile(RegisterFile, Protocol):
    """A register file that knows with the offer which sources are near (``cfg.gives.near_bits``, not ``later``).

    ``near`` and ``near_data`` come where those of a :class:`LateFile` come, ``brings`` beside ``near``.
    """

    def named(self, warp: int, beat: Beat) -> tuple[list[int], int]:
        """By source of a beat that issues, the copy that it names, -1 for none; slots that read their bank for it."""

    def near(self, copies: list[int]) -> None:
        """These copies are read in this cycle, all by one unit."""

    def brings(self, bring: Bring) -> None:
        """This slot asks in this cycle; no other one that brings does."""

    def near_data(self, copies: list[int], slots: list[int], note: int) -> list[int]:
        """The copies that :meth:`near` announced; their source slots, and 0."""


@mypyc_attr(allow_interpreted_subclasses=True)
class GatedFile(RegisterFile, Protocol):
    """A register file that says which head beats may issue (``cfg.gives.gates``), over registered state.

    ``gate`` is called first in every cycle and brings the masks of warps up to date: ``hold``, ``refuses`` (the head
    beat is refused if its warp is chosen) and ``yields`` (a scheduler with places takes it for waiting at a barrier
    that does not open).
    """

    refuses: int
    yields: int

    def gate(self, heads: Heads) -> None:
        """Decide over the head beats and the pending registers."""

    def refused(self, warp: int) -> None:
        """The warp was chosen and is in ``refuses``: nothing issues in this cycle."""


@mypyc_attr(allow_interpreted_subclasses=True)
class RankedFile(RegisterFile, Protocol):
    """A register file that tells a scheduler who owns registers that two warps share (``cfg.gives.ranks``).

    ``owners`` own them. ``sharers`` are in a slot with a partner and do not. Both change at the edge only.
    """

    owners: int
    sharers: int


@mypyc_attr(allow_interpreted_subclasses=True)
class KernelFile(RegisterFile, Protocol):
    """A register file that takes part in the start and the end of a kernel (``cfg.gives.kernel``).

    ``kernel_ready``: it takes the kernel that is offered in this cycle, before the first launch. ``quiet``: nothing is
    under way inside. Both are read at the beginning of a cycle. A file that takes operands (``cfg.operand_bits``) and
    nothing else of this has :meth:`operand` alone.
    """

    kernel_ready: bool
    quiet: bool

    @property
    def retired(self) -> int:
        """With ``cfg.gives.sweeps``: warps whose slot and places are free from the next cycle, read after ``edge``."""

    def kernel(self, kernel: object) -> None:
        """A kernel that was offered while the file was ready."""

    def operand(self, operand: int) -> None:
        """Operand of the pseudo-beat that issued in the cycle before (``cfg.operand_bits``)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class StartingFile(RegisterFile, Protocol):
    """A register file that takes some cycles after reset (``cfg.gives.starts``) until it could take a kernel or launch.

    ``started``: they are over, for good. It changes at the edge only.
    """

    started: bool


class Death:
    """A dead register without a pending read, and where it is."""

    __slots__ = ("mapped", "register", "warp")

    def __init__(self, warp: int, register: int, mapped: Mapped) -> None:
        self.warp, self.register, self.mapped = warp, register, mapped


@mypyc_attr(allow_interpreted_subclasses=True)
class RenamedFile(RegisterFile, Protocol):
    """A register file with a table that says where registers are (``cfg.gives.renamed``).

    Beside the other calls of a cycle: [``dies``] over registered state, before ``accept``; it drives itself, so that
    ``accept`` comes in every cycle. Behind it ``died``, then [``look_up``] for one source slot after the other.
    ``unpacked`` goes with ``read``, whose accesses bring no copies.
    """

    died: bool

    def dies(self, death: Death) -> None:
        """A register that is shown as dead in this cycle (``cfg.gives.deaths``); ``died``: its slices are free."""

    def look_up(self, warp: int, register: int) -> Mapped | None:
        """Where a register is, for use from the next cycle on; None: the table does not serve it in this cycle."""

    def unpacked(self, mapped: Mapped, warp: int, register: int) -> int:
        """The copy that a register has in these slices at the beginning of the cycle."""


class Sent:
    """A beat on the port of the LSU with its operands, which are copies."""

    __slots__ = ("entry", "operands", "warp")

    def __init__(self, warp: int, entry: Entry, operands: list[int]) -> None:
        self.warp, self.entry, self.operands = warp, entry, operands


@mypyc_attr(allow_interpreted_subclasses=True)
class AbsorbingFile(RenamedFile, Protocol):
    """A register file through which beats leave by the port of the LSU (``cfg.gives.absorbs``).

    Behind ``accept``, in every cycle: ``sending``, ``takes_access``, and if that is so and the collectors present a
    beat there ``access``.
    """

    @property
    def sending(self) -> Sent | None:
        """What is presented at the pins; it changes at the edge only."""

    def takes_access(self, sent: bool) -> bool:
        """Whether a beat of the collectors is taken in this cycle; ``sent``: what is presented at the pins is taken."""

    def access(self, access: Sent) -> None:
        """The collectors' beat is taken."""


@mypyc_attr(allow_interpreted_subclasses=True)
class LookaheadFile(AbsorbingFile, Protocol):
    """A register file that says whose next load is there (``cfg.gives.lookahead``).

    Head beats and pending registers are looked at in ``accept``, and what issues in ``issued``.
    """

    @property
    def lookahead_hit(self) -> int:
        """The warp whose next load is there, as a mask; it changes at the edge."""

    def watch(self, heads: Heads) -> None:
        """Where the head beats are; once, before the first cycle."""


class Eviction(NamedTuple):
    """The value of all live lanes of a register, which the file has not, and the bytes that hold it."""

    warp: int
    register: int
    size: int
    copy: int


@mypyc_attr(allow_interpreted_subclasses=True)
class EvictingFile(RenamedFile, Protocol):
    """A renamed file that takes registers back by name (``cfg.asks.evicts``).

    [``evicts``] comes where ``dies`` comes; behind ``accept``: ``evicted``.
    """

    evicted: bool

    def evicts(self, eviction: Eviction) -> None:
        """A register that is presented in this cycle; ``evicted``: it is taken."""

    def unmapped(self, warp: int, register: int) -> int:
        """The copy that a register is which is nowhere."""

    def result_size(self, result: Result) -> int:
        """Bytes that a result needs."""
