"""What the hints of a worked example are, per instruction and register, and the words of a beat that follow from it.

The words are laid out by docs/schemes, on their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.compiler.passes.modern.coded import coded_trace
from tests.emulator.harness import listing
from tests.golden.scenario import FULL, hand_trace
from warpfile.compiler import parse
from warpfile.compiler.program import static_instruction
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.stress.warp_programs import Memory, WarpProgram, trace_of
from warpfile.spec.trace import Trace

NOWHERE = 3


@dataclass(frozen=True)
class Code:
    """Hints of an instruction under control codes, as docs/schemes/modern.md, sections 4 and 5 name them.

    ``slots``, beat by beat, the source slot at each position. ``apart``: ticks between its beats.
    """

    slots: tuple[tuple[int, int, int], ...] = ((NOWHERE,) * 3,)
    fma: bool = False
    apart: int = 2
    reuse: tuple[int, ...] = (0,)
    write: int = 7
    registers: int = 1
    read: int = 7
    stall: int = 1
    yields: bool = False
    wait: int = 0


@dataclass(frozen=True)
class Said:
    """Hints of one instruction: of its result, of the instruction, and of sources by register number."""

    sources: tuple[int, ...] = ()  #: distinct registers in order of first occurrence
    write_class: int = 0
    near: tuple[int, ...] = ()
    near_dests: int = 0
    suspend: bool = False
    no_allocate: bool = False
    dead: tuple[int, ...] = ()
    evict_first: tuple[int, ...] = ()
    prefetched: bool = False  #: a PREFETCH stands in front of it
    told: bool = False  #: metadata stand in front of it
    code: Code = Code()
    access: tuple[int, int, int, int] = (0, 0, 0, 0)  #: what it is, registers of the address, log2 of bytes, offset
    entries: Mapping[int, int] = field(default_factory=dict)  #: of sources that are read near or bring, by register
    brings: tuple[int, ...] = ()
    result: int = 0  #: entry of the result, which then is not in the banks


@dataclass(frozen=True)
class Example:
    """A scheme at a preset, code, and the instructions that its one warp executes, EXIT the last, with their hints."""

    scheme: str
    preset: str
    changes: Mapping[str, object]
    code: str
    said: Mapping[int, Said]
    counters: Mapping[str, int] = field(default_factory=dict)

    @property
    def config(self) -> Config:
        """The configuration."""
        return find(self.scheme).configuration(self.preset, **self.changes)

    @property
    def trace(self) -> Trace:
        """What the warp executes, without hints: instructions as the parser reads them, and the listing itself."""
        text = listing(self.code)
        instructions = parse(text, "example").function("k").instructions
        *path, end = (static_instruction(instructions[index]) for index in self.said)
        trace = hand_trace([(static, FULL) for static in path], kernel="k", listing=text)
        return dataclasses.replace(trace, program=(*trace.program[:-1], end))

    @property
    def annotated(self) -> Trace:
        """The trace with the hints that the scheme's pass finds in the listing."""
        return find(self.scheme).annotated(self.config, self.trace)

    @property
    def sources(self) -> list[Sequence[int]]:
        """Sources of all beats but those that a pass inserts."""
        return [cut for said in self.said.values() for cut in _cut(said.sources, self.config.source_slots)]

    @property
    def words(self) -> list[int]:
        """Hint words of all beats."""
        slots = self.config.source_slots
        beats = [(said, _cut(said.sources, slots)) for said in self.said.values()]
        return [word for said, cut in beats for word in LAYOUT[self.scheme](said, cut, slots)]


@dataclass(frozen=True)
class ExecutedExample(Example):
    """An example whose values and addresses are those of a program that does what its instructions say."""

    program: Callable[[WarpProgram], None] = lambda warp: None

    @property
    def trace(self) -> Trace:
        """What the warp executes, with values."""
        static, warp = super().trace, WarpProgram(Memory())
        self.program(warp)
        names = {name: getattr(static, name) for name in ("kernel", "listing", "program")}
        return dataclasses.replace(trace_of([warp]), **names)


@dataclass(frozen=True)
class LaunchedExample(Example):
    """An example of a launch of so many CTAs of one warp each, all of which execute the same."""

    ctas: int = 1

    @property
    def trace(self) -> Trace:
        """What the warps execute."""
        one = super().trace
        path = [(one.program[index], FULL) for index in range(len(one.program) - 1)]
        names = {name: getattr(one, name) for name in ("kernel", "listing")}
        return hand_trace(*[path] * self.ctas, ctas=range(self.ctas), program=one.program * self.ctas, **names)

    @property
    def sources(self) -> list[Sequence[int]]:
        """Sources of all beats, warp by warp."""
        return super().sources * self.ctas

    @property
    def words(self) -> list[int]:
        """Hint words of all beats, warp by warp."""
        return super().words * self.ctas


class CodedExample(Example):
    """An example whose code are lines with their control codes, all of which the warp executes."""

    @property
    def trace(self) -> Trace:
        """What the warp executes."""
        return coded_trace(*self.code.splitlines())


def label(example: Example) -> str:
    """What a test calls an example."""
    window = example.changes.get("window")
    return f"{example.scheme} {example.config.source_slots} slots" + (f" window {window}" if window else "")


def _cut(sources: Sequence[int], slots: int) -> list[Sequence[int]]:
    """Sources of each beat: as many as there are slots, one beat without any where there are none."""
    return [sources[start : start + slots] for start in range(0, len(sources), slots)] or [()]


def _mask(beat: Sequence[int], marked: Sequence[int]) -> int:
    return sum(1 << slot for slot, register in enumerate(beat) if register in marked)


def _window_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/bow.md: two bits on the beat that has the result, the last one."""
    return [0] * (len(beats) - 1) + [said.write_class]


def _unit_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/malekeh.md: near bits of four destinations on the last beat, above them one per source slot."""
    words = [_mask(beat, said.near) << 4 for beat in beats]
    words[-1] |= said.near_dests
    return words


def _cache_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/rfc.md, section 4."""
    words = [_mask(beat, said.dead) << 2 | _mask(beat, said.evict_first) << 2 + slots for beat in beats]
    words[0] |= said.suspend << 1
    words[-1] |= said.no_allocate
    return words


def _interval_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/ltrf.md, section 9; a PREFETCH is a beat without hints."""
    return [0] * said.prefetched + [_mask(beat, said.dead) for beat in beats]


def _renamed_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/corf.md, section 9; metadata are a beat without hints."""
    return [0] * said.told + [_mask(beat, said.dead) for beat in beats]


def _shared_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/larf.md, section 4, and above it the kills of docs/schemes/corf.md."""
    words = [_mask(beat, said.dead) << 55 for beat in beats]
    kind, registers, size, offset = said.access
    words[0] |= kind | registers << 2 | size << 4 | offset % (1 << 48) << 7
    return words


def _leveled_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/shrf.md, section 3, for three entries and a split last-result file: what comes back lowest."""
    low = (3 + slots).bit_length() + 1
    words = []
    for beat in beats:
        entries = sum(said.entries.get(register, 0) << 3 * slot for slot, register in enumerate(beat))
        words.append(entries << low + 1 | _mask(beat, said.brings) << low + 1 + 3 * slots)
    words[0] |= said.suspend << low
    words[-1] |= said.result | bool(said.result) << low - 1
    return words


def _no_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """Beats have no hints: ``owf`` renames registers, ``scalar`` and ``sticky`` have no pass."""
    return [0] * len(beats)


def _coded_words(said: Said, beats: list[Sequence[int]], slots: int) -> list[int]:
    """docs/schemes/modern.md, section 5: what comes back with results lowest."""
    code, words = said.code, []
    for number, (at, kept) in enumerate(zip(code.slots, code.reuse, strict=True)):
        last = number == len(code.slots) - 1
        word = at[0] << 5 | at[1] << 7 | at[2] << 9 | code.fma << 11 | kept << 12
        word |= code.write | code.read << 15 | code.stall << 18 | code.yields << 22 if last else 7 | 7 << 15
        word |= code.registers - 1 << 3 if last and code.registers else 0
        word |= 0 if last else code.apart << 18
        words.append(word | (0 if number else code.wait << 23))
    return words


#: Names of the packed file at which dead registers lose their slices, and whether warps tell it anything.
VIRTUAL = {"virtualization": 0, "packing_virtual": 0, "first_fit_virtual": 0, "corf_virtual": 1, "corf_plus_virtual": 1}
LAYOUT = {
    "bow_wr": _window_words,
    "malekeh": _unit_words,
    "rfc": _cache_words,
    "ltrf": _interval_words,
    "ltrf_plus": _interval_words,
    "modern": _coded_words,
    "larf": _shared_words,
    "shrf": _leveled_words,
    **dict.fromkeys(("owf", "scalar", "sticky"), _no_words),
    **dict.fromkeys(VIRTUAL, _renamed_words),
}
