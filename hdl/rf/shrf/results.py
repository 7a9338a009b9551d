"""Where results go: to their bank, to an entry of their warp's place, or to both (docs/schemes/shrf.md, section 5)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, highest_one, select
from warpfile.hdl.beat import result_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.shrf.named_entries import result_entry, skips_bank
from warpfile.spec.schemes.shrf import ShrfConfig

#: Accepted results by their target; each is an output with one bit per write-back port.
TARGETS = ("bank_write", "orf_write", "lrf_write")


class ResultTargets(wiring.Component):
    """Which result each write port of the entries takes, and which results are accepted. Combinational.

    A port of the entries, like a bank, chooses the highest write-back port that asks it. A result is accepted if all
    that it asks have chosen it and are free.

    Members
    -------
    store : In(ports), results : In(ArrayLayout)   Results with a register, by port.
    holders : In(ArrayLayout)          Place of the warp of each result, one-hot.
    bring : In(1)                      A bring is written: the operand register file is not free; only if there is one.
    to_bank, may : Out(ports)          Results that ask their bank; results that all else takes that they ask.
    bank_accept : In(ports)            Of those in ``to_bank`` and ``may``, the ones that their bank takes.
    accept : Out(ports)                In the same cycle.
    TARGETS : Out(ports) each          Accepted results by target.
    writers : Out(ArrayLayout)         Per write port of the entries the result whose data it takes, one-hot or zero:
                                       the operand register file, if there is one, then the last-result files.
    written : Out(places * entries)    Entries that accepted results are written to.
    """

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        ports = cfg.write_ports
        super().__init__(
            {
                "store": In(ports),
                "results": In(data.ArrayLayout(result_layout(cfg), ports)),
                "holders": In(data.ArrayLayout(cfg.entry_places, ports)),
                **({"bring": In(1)} if cfg.orf_entries else {}),
                "bank_accept": In(ports),
                **{name: Out(ports) for name in ("to_bank", "may", "accept", *TARGETS)},
                "writers": Out(data.ArrayLayout(ports, write_ports(cfg))),
                "written": Out(cfg.entry_places * cfg.place_entries),
            }
        )

    def elaborate(self, platform) -> Module:
        """The choice of every write port; what banks say is known last."""
        m = Module()
        cfg = self._cfg
        entries = [
            named(m, f"entry{port}", result_entry(cfg, result.hints) & self.store[port].replicate(cfg.place_entries))
            for port, result in enumerate(self.results)
        ]
        near = named(m, "near", Cat(entry.any() for entry in entries))
        skips = named(m, "skips", Cat(skips_bank(cfg, result.hints) for result in self.results))
        orf = named(m, "to_orf", Cat(entry[: cfg.orf_entries].any() for entry in entries))
        asked = [orf & ~self.bring.replicate(len(orf))] if cfg.orf_entries else []
        asked += [Cat(entry[number] for entry in entries) for number in range(cfg.orf_entries, cfg.place_entries)]
        for writer, asking in zip(self.writers, asked, strict=True):
            m.d.comb += writer.eq(highest_one(asking))
        m.d.comb += [
            self.to_bank.eq(self.store & ~skips),
            self.may.eq(~near | any_of(self.writers)),
            self.accept.eq((skips & self.store & self.may) | self.bank_accept),
            self.bank_write.eq(self.accept & self.to_bank),
            self.orf_write.eq(self.accept & orf),
            self.lrf_write.eq(self.accept & near & ~orf),
        ]
        self._written(m, entries)
        return m

    def _written(self, m: Module, entries: list[Value]) -> None:
        """Entries of the places of those that are accepted."""
        for place in range(self._cfg.entry_places):
            here = named(m, f"here{place}", self.accept & Cat(holder[place] for holder in self.holders))
            written = self.written.word_select(place, self._cfg.place_entries)
            m.d.comb += written.eq(select(here, entries))


def write_ports(cfg: ShrfConfig) -> int:
    """Write ports of the entries: that of the operand register file, if there is one, and one per last-result file."""
    return (cfg.orf_entries > 0) + cfg.lrf_entries
