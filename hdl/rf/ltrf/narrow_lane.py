"""The narrow crossbar between main banks and cache (docs/schemes/ltrf.md, section 5)."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select_wide
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
    """One lane of the narrow crossbar, and the lanes of the staging registers that pass through it in turn.

    Everything is word-major: word, then bank, channel or port. A beat is the word that passes, one-hot or none.

    Members
    -------
    mains, cached, results : In(ArrayLayout)   What main banks and cache have read, and what the write-back ports have.
    latches : In(channels)       The staging register takes what the cache has read.
    beats : In(ArrayLayout)      Of each channel.
    fills : In(ArrayLayout)      Main bank that each channel takes its word from, one-hot or none.
    main_beats : In(ArrayLayout) Of each main bank.
    saves : In(ArrayLayout)      Channel that each main bank takes its word from, one-hot or none; above them the port.
    port : In(write_ports), port_beat : In(words)   Result that is parked, one-hot, and its beat.
    staged : Out(ArrayLayout)    The staging registers.
    written : Out(ArrayLayout)   The word for each main bank.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        self._words = words = Slices(cfg).lanes
        channels, ports = cfg.interval_registers, cfg.write_ports
        super().__init__(
            {
                "mains": In(data.ArrayLayout(32 * cfg.banks, words)),
                "cached": In(data.ArrayLayout(32 * channels, words)),
                "results": In(data.ArrayLayout(32 * ports, words)),
                "latches": In(channels),
                "beats": In(data.ArrayLayout(words, channels)),
                "fills": In(data.ArrayLayout(cfg.banks, channels)),
                "main_beats": In(data.ArrayLayout(words, cfg.banks)),
                "saves": In(data.ArrayLayout(channels + 1, cfg.banks)),
                "port": In(ports),
                "port_beat": In(words),
                "staged": Out(data.ArrayLayout(32 * channels, words)),
                "written": Out(data.ArrayLayout(32, cfg.banks)),
            }
        )

    def elaborate(self, platform) -> Module:
        """A word per main bank, the crossbar, the staging registers; then the way back."""
        m = Module()
        cfg = self._cfg
        leaving = []
        read = [self._word(m, f"read{bank}", self.main_beats[bank], self.mains, bank) for bank in range(cfg.banks)]
        for channel, (fill, beat) in enumerate(zip(self.fills, self.beats, strict=True)):
            arriving = Signal(32, name=f"arriving{channel}")
            m.d.comb += arriving.eq(select_wide(fill, read))
            for number in range(self._words):
                word = Signal(32, name=f"staged{number}_{channel}", reset_less=True)
                with m.If(self.latches[channel]):
                    m.d.sync += word.eq(self.cached[number].word_select(channel, 32))
                with m.Elif(fill.any() & beat[number]):
                    m.d.sync += word.eq(arriving)
                m.d.comb += self.staged[number].word_select(channel, 32).eq(word)
            leaving.append(self._word(m, f"leaving{channel}", beat, self.staged, channel))
        ports = [self._word(m, f"result{port}", self.port_beat, self.results, port) for port in range(cfg.write_ports)]
        parked = Signal(32)
        m.d.comb += parked.eq(select_wide(self.port, ports))
        for written, save in zip(self.written, self.saves, strict=True):
            m.d.comb += written.eq(select_wide(save, [*leaving, parked]))
        return m

    def _word(self, m: Module, name: str, beat: data.View, words: data.View, index: int) -> Signal:
        """The word that passes."""
        word = Signal(32, name=name)
        m.d.comb += word.eq(select_wide(beat, [words[number].word_select(index, 32) for number in range(self._words)]))
        return word
