"""What becomes of the two results that are considered in a cycle (docs/schemes/rfc.md, section 3, step 1)."""

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named

#: What may become of an accepted short result; one of them is set.
SHORT_EVENTS = ("write_hit", "take", "bypass_hint", "bypass_partial", "bypass_full")
#: The cache's answer for a short result's register: it is there; a line may be taken; that line holds a value that has
#: to be written, one that is not read again.
SHORT_LOOKUP = ("hit", "line", "victim", "victim_dead")
#: Its answer for a long result's register: it is there; its line goes if the short result takes one.
LONG_LOOKUP = ("met", "leaves")


class ShortResult(wiring.Component):
    """Into the cache, or past it. Combinational.

    Members
    -------
    valid, full, hinted : In(1)     A result; it writes all live lanes; the compiler says that it is not to enter.
    hit, line, victim, victim_dead : In(1)   Its register is there; a line may be taken; that holds a value that has to
                                    be written, one that is not read again.
    own_full, victim_full : In(1)   The queue of its bank, that of the victim's.
    port : In(1)                    A read port is left.
    wants_victim : Out(1)           It makes another register leave.
    accept : Out(1)                 It is accepted.
    write_hit, take : Out(1)        It is written into its line, into another one.
    bypass_hint, bypass_partial, bypass_full : Out(1)   It goes past the lines, by reason.
    evict, evict_dead : Out(1)      The victim goes to its queue, or is dropped.
    claims, queues : Out(1)         Something would go to a queue if that is not full; it goes there.
    """

    def __init__(self) -> None:
        outputs = ("wants_victim", "accept", *SHORT_EVENTS, "evict", "evict_dead", "claims", "queues")
        super().__init__(
            {
                **{
                    name: In(1)
                    for name in ("valid", "full", "hinted", *SHORT_LOOKUP, "own_full", "victim_full", "port")
                },
                **{name: Out(1) for name in outputs},
            }
        )

    def elaborate(self, platform) -> Module:
        """The rules in their order, each with what stands in its way."""
        m = Module()
        misses = named(m, "misses", ~self.hit & ~self.hinted)
        allocates = named(m, "allocates", misses & self.full & self.line)
        needs_queue = named(m, "needs_queue", Mux(allocates, self.victim, ~self.hit))
        passes = named(m, "passes", self.valid & ~self.own_full)
        vacates = named(m, "vacates", self.valid & self.port & ~self.victim_full)
        m.d.comb += [
            self.wants_victim.eq(allocates & self.victim),
            self.claims.eq(self.valid & needs_queue & ~(self.wants_victim & ~self.port)),
            self.accept.eq(Mux(allocates, Mux(self.victim, vacates, self.valid), Mux(self.hit, self.valid, passes))),
            self.write_hit.eq(self.valid & self.hit),
            self.bypass_hint.eq(passes & ~self.hit & self.hinted),
            self.bypass_partial.eq(passes & misses & ~self.full),
            self.bypass_full.eq(passes & misses & self.full & ~self.line),
            self.take.eq(allocates & Mux(self.victim, vacates, self.valid)),
            self.evict.eq(allocates & self.victim & vacates),
            self.evict_dead.eq(self.take & self.victim_dead),
            self.queues.eq(needs_queue & Mux(allocates, vacates, passes)),
        ]
        return m


class LongResult(wiring.Component):
    """Of a load from far away: past the cache, unless it writes some lanes of a line. Combinational.

    Members
    -------
    valid, full : In(1)             A result; it writes all live lanes.
    met, leaves : In(1)             Its register is in the cache; the line may be that which the short result takes.
    taken, written : In(1)          The short result takes a line, comes into its own one: it uses the write port.
    queue_full, queue_taken : In(1) Of its bank; the short result claims that.
    accept, merge, drop, claims, queues : Out(1)   It is accepted; it is written into its line, makes the line invalid,
                                    would go to a queue if that is not full, goes there.
    would_merge, would_drop : Out(1)   If its line stays, it does that; known before that is.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                **{name: In(1) for name in ("valid", "full", *LONG_LOOKUP, "taken", "written")},
                **{name: In(1) for name in ("queue_full", "queue_taken")},
                **{name: Out(1) for name in ("accept", "merge", "drop", "claims", "queues")},
                **{name: Out(1) for name in ("would_merge", "would_drop")},
            }
        )

    def elaborate(self, platform) -> Module:
        """One of two ways, each with its needs. ``taken`` comes last: what follows from it is known before."""
        m = Module()
        partial = named(m, "partial", self.met & ~self.full)
        hit = named(m, "hit", self.met & ~(self.leaves & self.taken))
        merges = named(m, "merges", hit & ~self.full)
        barred = named(m, "queue_barred", self.queue_full | self.queue_taken)
        behind = named(m, "behind_taken", ~barred & (~partial | self.leaves))
        beside = named(m, "beside_others", ~Mux(partial, self.written, barred))
        m.d.comb += [
            self.accept.eq(self.valid & Mux(self.taken, behind, beside)),
            self.would_merge.eq(self.valid & ~self.full & ~self.written & ~self.taken),
            self.would_drop.eq(self.valid & self.full & ~barred),
            self.merge.eq(self.accept & merges),
            self.drop.eq(self.accept & hit & self.full),
            self.claims.eq(self.valid & ~merges & ~self.queue_taken),
            self.queues.eq(self.accept & ~merges),
        ]
        return m
