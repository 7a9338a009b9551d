"""The merge slot: a row that is made of one or two others (docs/schemes/larf.md, section 11)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.shared.counts import SOURCES
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import IDLE, READ1, READ2, WRITE, SharedConfig


def job_layout(cfg: SharedConfig) -> data.StructLayout:
    """What has to be merged. Of two sources, or one, the first ones: their rows, the distance by which lanes are taken
    from higher ones (modulo ``lanes``), and the lanes that they give; then the row that is written, and its lanes.
    """
    return data.StructLayout(
        {
            "places": places_layout(cfg, SOURCES),
            "distances": data.ArrayLayout(index_bits(cfg.lanes), SOURCES),
            "covers": data.ArrayLayout(cfg.lanes, SOURCES),
            "double": 1,
            "target": location_layout(cfg),
            "mask": cfg.lanes,
        }
    )


class MergeShift(wiring.Component):
    """One bit of all lanes, turned: lane i gets that of lane i + ``distance``, modulo ``lanes``. Combinational.

    Members
    -------
    bits : In(lanes), distance : In   The bit of every lane; by how many lanes it is turned.
    turned : Out(lanes)          The bit that every lane gets.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        super().__init__({"bits": In(cfg.lanes), "distance": In(index_bits(cfg.lanes)), "turned": Out(cfg.lanes)})

    def elaborate(self, platform) -> Module:
        """A stage per bit of the distance."""
        m = Module()
        value: Value = self.bits
        for place, bit in enumerate(self.distance):
            value = named(m, f"stage{place}", Mux(bit, value.rotate_right(1 << place), value))
        m.d.comb += self.turned.eq(value)
        return m


class MergeLane(wiring.Component):
    """One lane of the row that is made.

    Members
    -------
    take : In(1), word : In(32)   It is this from the next cycle on.
    made : Out(32)               The word that it has.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        super().__init__({"take": In(1), "word": In(32), "made": Out(32)})

    def elaborate(self, platform) -> Module:
        """A register."""
        m = Module()
        kept = Signal(32, name="kept", reset_less=True)
        take(m, self._cfg, kept.name, [kept], (self.take, [self.word]))
        m.d.comb += self.made.eq(kept)
        return m


class MergeSlot(wiring.Component):
    """One job at a time: a read, or two, then a write. What happens in a cycle is seen from the next.

    Members
    -------
    start : In(1), job : In(job_layout(cfg))   A job; only while it is idle.
    state : Out(2)               One of ``IDLE``, ``READ1``, ``READ2``, ``WRITE``.
    reads, writes : Out(1), place : Out(location_layout(cfg)), lanes : Out(lanes)   What it asks of a bank.
    read, written : In(1)        The bank serves it.
    arrives : In(1), row : In(ArrayLayout)   What was read is there, lane by lane.
    made : Out(ArrayLayout)      What is written, lane by lane.
    target : Out(location_layout(cfg))   The row that is written.
    busy : Out(2), busy_places : Out(ArrayLayout)   Rows that it has yet to read.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        place, words = location_layout(cfg), data.ArrayLayout(32, cfg.lanes)
        super().__init__(
            {
                **{name: In(1) for name in ("start", "read", "written", "arrives")},
                "job": In(job_layout(cfg)),
                "state": Out(2),
                **{name: Out(1) for name in ("reads", "writes")},
                **{name: Out(place) for name in ("place", "target")},
                "lanes": Out(cfg.lanes),
                "row": In(words),
                "made": Out(words),
                "busy": Out(SOURCES),
                "busy_places": Out(places_layout(cfg, SOURCES)),
            }
        )

    def elaborate(self, platform) -> Module:
        """The job, its state, and the lanes."""
        m = Module()
        job = Signal(job_layout(self._cfg), name="job_kept", reset_less=True)
        first, second, write = (named(m, name, self.state == code) for name, code in _STATES)
        with m.If(self.start):
            m.d.sync += [job.eq(self.job), self.state.eq(READ1)]
        with m.Elif(self.read):
            m.d.sync += self.state.eq(Mux(first & job.double, READ2, WRITE))
        with m.Elif(self.written):
            m.d.sync += self.state.eq(IDLE)
        m.d.comb += [
            self.reads.eq(first | second),
            self.writes.eq(write & ~self.arrives),
            self.place.eq(Mux(write, job.target, Mux(second, job.places[1], job.places[0]))),
            self.lanes.eq(job.mask),
            self.target.eq(job.target),
            self.busy.eq(Cat(first, (first | second) & job.double)),
            self.busy_places.eq(job.places),
        ]
        # In WRITE the row of the last read comes, in READ2 that of the first.
        last = named(m, "last", write & job.double)
        cover = named(m, "cover", Mux(last, job.covers[1], job.covers[0]) & self.arrives.replicate(self._cfg.lanes))
        self._move(m, named(m, "distance", Mux(last, job.distances[1], job.distances[0])), cover)
        return m

    def _move(self, m: Module, distance: Value, cover: Value) -> None:
        """What was read, turned, to the lanes of its cover."""
        lanes = range(self._cfg.lanes)
        turned = []
        for bit in range(32):
            shift = stamp(m, f"shift{bit}", "merge_shift", lambda: MergeShift(self._cfg), clocked=False)
            m.d.comb += [shift.bits.eq(Cat(self.row[lane][bit] for lane in lanes)), shift.distance.eq(distance)]
            turned.append(shift.turned)
        for number in lanes:
            lane = stamp(m, f"lane{number}", "merge_lane", lambda: MergeLane(self._cfg))
            m.d.comb += [
                lane.take.eq(cover[number]),
                lane.word.eq(Cat(word[number] for word in turned)),
                self.made[number].eq(lane.made),
            ]


_STATES = (("first", READ1), ("second", READ2), ("write", WRITE))
