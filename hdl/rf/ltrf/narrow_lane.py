"""The narrow crossbar between the latches of main banks and the cache (docs/schemes/ltrf.md, section 5)."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select_wide
from warpfile.hdl.clock_gate import take
from warpfile.spec.schemes.ltrf import LtrfConfig


class Slices:
    """How the lanes of a warp are divided: ``count`` narrow lanes, each with ``lanes`` lanes one after the other."""

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        self.count = max(1, cfg.lanes // cfg.crossbar_beats)
        self.lanes = cfg.lanes // self.count

    def lane(self, number: int, word: int) -> int:
        """Lane of a word of a narrow lane."""
        return word * self.count + number

    def beat(self, lane: int) -> int:
        """Beat in which a lane passes."""
        return lane * self._cfg.crossbar_beats // self._cfg.lanes


class NarrowLane(wiring.Component):
    """One lane of the narrow crossbar, and the lanes of latches and staging registers that pass through it in turn.

    Everything is word-major: word, then bank, channel or port. A beat is the word that passes, one-hot or none.

    Members
    -------
    mains, cached, results : In(ArrayLayout)   What main banks and cache have read, and what the write-back ports have.
    latches : In(cache banks)    The staging register of a write-back takes what the cache has read.
    receivers : In(ArrayLayout)  By bank of the cache, the main bank whose beats pass to it, one-hot or none.
    fill_beats : In(ArrayLayout) By main bank, the beat of its fill: the first one comes from the bank, and the others
                                 from the output latch, which takes them meanwhile.
    received : In(ArrayLayout)   By bank of the cache, the beat that it gets.
    senders : In(ArrayLayout)    By main bank, the bank of the cache whose beats pass to it, one-hot or none; above them
                                 the port.
    back_beats, sent : In(ArrayLayout)   The beat of each bank of the cache, and of what each main bank gets.
    port : In(write_ports), port_beat : In(words)   Result that is parked, one-hot, and its beat.
    staged, latched : Out(ArrayLayout)   Staging registers of fills, and input latches.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        self._words = words = Slices(cfg).lanes
        channels, ports, mains = cfg.interval_registers, cfg.write_ports, cfg.banks
        super().__init__(
            {
                "mains": In(data.ArrayLayout(32 * mains, words)),
                "cached": In(data.ArrayLayout(32 * channels, words)),
                "results": In(data.ArrayLayout(32 * ports, words)),
                "latches": In(channels),
                "receivers": In(data.ArrayLayout(mains, channels)),
                "fill_beats": In(data.ArrayLayout(words, mains)),
                "received": In(data.ArrayLayout(words, channels)),
                "senders": In(data.ArrayLayout(channels + 1, mains)),
                "back_beats": In(data.ArrayLayout(words, channels)),
                "sent": In(data.ArrayLayout(words, mains)),
                "port": In(ports),
                "port_beat": In(words),
                "staged": Out(data.ArrayLayout(32 * channels, words)),
                "latched": Out(data.ArrayLayout(32 * mains, words)),
            }
        )

    def elaborate(self, platform) -> Module:
        """From the output latches to the staging registers; then the way back."""
        m = Module()
        leaves = [self._leave(m, bank) for bank in range(self._cfg.banks)]
        sends = [self._send(m, bank) for bank in range(self._cfg.interval_registers)]
        sends.append(self._park(m))
        self._take(m, "staged", self.received, [select_wide(way, leaves) for way in self.receivers], self.staged)
        self._take(m, "latched", self.sent, [select_wide(way, sends) for way in self.senders], self.latched)
        return m

    def _leave(self, m: Module, bank: int) -> Signal:
        """The word of a fill, and the output latch."""
        beat, words = self.fill_beats[bank], [self.mains[0].word_select(bank, 32)]
        for number in range(1, self._words):
            word = Signal(32, name=f"output{number}_{bank}", reset_less=True)
            take(m, self._cfg, word.name, [word], (beat[0], [self.mains[number].word_select(bank, 32)]))
            words.append(word)
        return self._word(m, f"read{bank}", beat, words)

    def _send(self, m: Module, bank: int) -> Signal:
        """The word of a write-back, and its staging register."""
        words = [Signal(32, name=f"saved{number}_{bank}", reset_less=True) for number in range(self._words)]
        rows = [row.word_select(bank, 32) for row in self.cached]
        take(m, self._cfg, f"saved{bank}", words, (self.latches[bank], rows))
        return self._word(m, f"leaving{bank}", self.back_beats[bank], words)

    def _park(self, m: Module) -> Signal:
        """The word of the parked result."""
        ports = range(self._cfg.write_ports)
        results = [
            self._word(m, f"result{port}", self.port_beat, [result.word_select(port, 32) for result in self.results])
            for port in ports
        ]
        parked = Signal(32)
        m.d.comb += parked.eq(select_wide(self.port, results))
        return parked

    def _take(self, m: Module, name: str, beats: data.View, values: list[Value], outputs: data.View) -> None:
        """Registers that take a word in each beat."""
        for bank, (beat, value) in enumerate(zip(beats, values, strict=True)):
            arriving = Signal(32, name=f"{name}_next{bank}")
            m.d.comb += arriving.eq(value)
            for number in range(self._words):
                word = Signal(32, name=f"{name}{number}_{bank}", reset_less=True)
                take(m, self._cfg, word.name, [word], (beat[number], [arriving]))
                m.d.comb += outputs[number].word_select(bank, 32).eq(word)

    def _word(self, m: Module, name: str, beat: Value, words: list[Value]) -> Signal:
        """The word that passes."""
        word = Signal(32, name=name)
        m.d.comb += word.eq(select_wide(beat, words))
        return word
