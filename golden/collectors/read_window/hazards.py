"""Why an operand is stale: which beat should have waited for which (docs/schemes/modern.md, section 15)."""

from __future__ import annotations

from warpfile.golden.collectors.read_window.held_beat import HeldBeat, HintFields, Writer
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.schemes.modern import NO_BARRIER, ReadWindowConfig
from warpfile.spec.stimulus import Result

_ALU_PORT = 0


class Writers:
    """Who wrote every register of every warp last, of the beats that have issued, and what each result changed."""

    def __init__(self, cfg: ReadWindowConfig, fields: HintFields) -> None:
        self._fields = fields
        self._fixed, self._variable = cfg.fixed_distance, cfg.variable_distance
        self._last: list[dict[int, Writer]] = [{} for _ in range(cfg.warps)]
        self._changes: list[dict[int, tuple[int, int]]] = [{} for _ in range(cfg.warps)]

    def issued(self, reader: HeldBeat) -> None:
        """A beat reads what was written before it, then writes."""
        last, entry = self._last[reader.warp], reader.entry
        beat = entry.beat
        reader.writers = [last.get(register) for register in beat.sources]
        barrier = -1 if entry.port == _ALU_PORT else self._fields.write_barrier(beat.hints)
        for number in range(beat.dest_count):
            last[beat.dest + number] = Writer(reader.tick, beat.offset, number, beat.result_row + number, barrier)

    def launched(self, launch: Launch) -> None:
        """Nothing is written yet."""
        self._last[launch.warp] = {}
        self._changes[launch.warp] = {}

    def accepted(self, result: Result, before: int) -> None:
        """A result changes its register from the row ``before`` to its own."""
        self._changes[result.warp][result.row] = before, result.mask

    def in_lanes_of(self, reader: HeldBeat, values: list[int]) -> list[int]:
        """The operands of a beat without later results that changed no lane which executes it."""
        beat = reader.entry.beat
        return [
            row if row == expected else self._without(reader.warp, row, expected, beat.mask)
            for row, expected in zip(values, beat.expected, strict=True)
        ]

    def _without(self, warp: int, row: int, expected: int, lanes: int) -> int:
        earlier, changes = row, self._changes[warp]
        while earlier != expected and earlier in changes and not changes[earlier][1] & lanes:
            earlier = changes[earlier][0]
        return expected if earlier == expected else row

    def reason(self, reader: HeldBeat, values: list[int]) -> str:
        """What kept a beat, of which one operand is not what the trace expects, from getting it."""
        beat = reader.entry.beat
        slot = next(n for n, row in enumerate(beat.expected) if 0 <= row != values[n])
        register, writer = beat.sources[slot], reader.writers[slot]
        later = self._last[reader.warp].get(register)
        if later is not None and later is not writer and later.row == values[slot]:
            return f"the instruction at {later.offset:#x} overwrote it before it was read"
        if writer is None:
            return "no instruction of its warp wrote it before"
        wrote = f"the instruction at {writer.offset:#x} wrote it"
        if writer.barrier == NO_BARRIER:
            return f"{wrote} and has no dependence counter to wait for"
        if writer.barrier >= 0:
            return f"{wrote} and its dependence counter SB{writer.barrier} was not waited for"
        needed = (self._fixed if reader.entry.port == _ALU_PORT else self._variable) + max(writer.number - 1, 0)
        return f"{wrote}, issued {reader.tick - writer.tick} ticks before and must be at least {needed} ticks away"
