"""One lane of the operands: of beats in the window, and of the heads of the queues."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.collectors.read_window.beats import window_places
from warpfile.hdl.naming import named
from warpfile.spec.schemes.modern import ENTRIES, POSITIONS, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS

WORD = 32
QUEUES = 2


class WindowLane(wiring.Component):
    """Words in flight from the banks to X, of the last results, and of the reuse cache.

    Members
    -------
    banks : In(64 * read_ports)      Words that were read in the cycle before, bank-major.
    result : In(32)                  Of port 0; the history takes it in every cycle.
    places : In(slots * 2 * places)  Per slot of the beat in X: bank and place of its read, one-hot; zero for none.
    entries : In(slots * entries)    Per slot: entry that it comes from, one-hot; only with a reuse cache.
    forward : In(slots * ages), masks : In(ages)   Results for it, and those that have this lane.
    keep : In(entries), kept : In(slots * positions)   Entries that take an operand; slot at each position, one-hot.
    operands : Out(32 * slots)       Of the beat in X.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        slots, ages, places = cfg.source_slots, cfg.read_window, window_places(cfg)
        cache = {"entries": In(slots * ENTRIES), "keep": In(ENTRIES), "kept": In(slots * POSITIONS)}
        super().__init__(
            {
                "banks": In(WORD * BANKS * cfg.read_ports),
                "result": In(WORD),
                "places": In(slots * BANKS * places),
                "forward": In(slots * ages),
                "masks": In(ages),
                **(cache if cfg.reuses else {}),
                "operands": Out(WORD * slots),
            }
        )

    def elaborate(self, platform) -> Module:
        """Three kinds of registers, then a multiplexer per slot."""
        m = Module()
        ages, words = self._cfg.read_window, self._read(m)
        cache = [Signal(WORD, name=f"reuse{n}", reset_less=True) for n in range(ENTRIES if self._cfg.reuses else 0)]
        history = [Signal(WORD, name=f"history{age}", reset_less=True) for age in range(ages)]
        m.d.sync += [word.eq(before) for word, before in zip(history, [self.result, *history], strict=False)]
        operands = []
        for slot in range(self._cfg.source_slots):
            choice, sources = self.places.word_select(slot, len(words)), list(words)
            if self._cfg.reuses:
                choice, sources = Cat(choice, self.entries.word_select(slot, ENTRIES)), sources + cache
            results = named(m, f"results{slot}", self.forward.word_select(slot, ages) & self.masks)
            older = choice & ~results.any().replicate(len(choice))
            chosen = named(m, f"chosen{slot}", Cat(older, lowest_one(results)))
            m.d.comb += self.operands.word_select(slot, WORD).eq(select(chosen, sources + history))
            operands.append(self.operands.word_select(slot, WORD))
        for number, word in enumerate(cache):
            kept = self.kept.word_select(number // BANKS, len(operands))
            take(m, self._cfg, word.name, [word], (self.keep[number], [select(kept, operands)]))
        return m

    def _read(self, m: Module) -> list[Value]:
        """Words by bank and place of their read; those of the last places are at the banks, when the beat is in X."""
        ports, ages = self._cfg.read_ports, self._cfg.read_window
        words: list[Value] = []
        for bank in range(BANKS):
            now = [self.banks.word_select(bank * ports + port, WORD) for port in range(ports)]
            rows = [now]
            for age in range(1, ages):
                held = [Signal(WORD, name=f"read{bank}_{port}_{age}", reset_less=True) for port in range(ports)]
                m.d.sync += [word.eq(before) for word, before in zip(held, rows[-1], strict=True)]
                rows.append(held)
            words += [word for row in reversed(rows) for word in row]
        return words


class QueueLane(wiring.Component):
    """Operands of the heads of the queues.

    Members
    -------
    banks : In(64)                   Words that were read for heads in the cycle before.
    arrived : In(queues * slots), odd : In(queues * slots)   Slots that they are for; slots with a register of bank 1.
    operands : Out(32 * queues * slots)   Of the two heads.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg, self._count = cfg, QUEUES * cfg.source_slots
        count = self._count
        super().__init__(
            {
                "banks": In(WORD * BANKS),
                "arrived": In(count),
                "odd": In(count),
                "operands": Out(WORD * count),
            }
        )

    def elaborate(self, platform) -> Module:
        """A register per slot, and a way around it."""
        m = Module()
        words = [self.banks.word_select(bank, WORD) for bank in range(BANKS)]
        for number in range(self._count):
            held = Signal(WORD, name=f"buffer{number}", reset_less=True)
            operand = self.operands.word_select(number, WORD)
            arrived, odd = self.arrived[number], self.odd[number]
            m.d.comb += operand.eq(select([~arrived, arrived & ~odd, arrived & odd], [held, *words]))
            take(m, self._cfg, held.name, [held], (arrived, [operand]))
        return m
