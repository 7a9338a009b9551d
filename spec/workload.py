"""A trace prepared for one configuration: the beats of every warp, with the values their operands must have."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from warpfile.spec.beat import NO_VALUE, Beat, kernel_fields, source_groups
from warpfile.spec.config import Config
from warpfile.spec.sectors import Sectors
from warpfile.spec.shared_memory import degree
from warpfile.spec.trace import Access, Kind, Port, Space, StaticInstruction, Trace
from warpfile.spec.values import RowValues


class WorkloadError(ValueError):
    """A trace that the configuration cannot run; the message gives what would be right."""


@dataclass(frozen=True)
class Kernel:
    """What the machine is told before the first launch: registers per thread, and the descriptor by field name."""

    registers: int
    descriptor: dict[str, int]


@dataclass(frozen=True)
class Workload:
    """Beats per warp in program order; ``beats[payload]`` finds one by its payload.

    Beats and warps are those of the whole trace, whichever of them the domain runs.
    """

    trace: Trace
    beats: tuple[Beat, ...]
    warps: tuple[tuple[Beat, ...], ...]  #: in launch order
    ctas: tuple[tuple[int, ...], ...]  #: warps of each CTA that the domain runs, of CTAs of which it runs any
    kernel: Kernel

    @property
    def registers(self) -> int:
        """Registers per thread."""
        return self.kernel.registers

    @property
    def dealt(self) -> tuple[Beat, ...]:
        """Beats of the warps that the domain runs, warp by warp."""
        return tuple(beat for members in self.ctas for warp in members for beat in self.warps[warp])

    @property
    def instructions(self) -> int:
        """How many instructions the domain runs, without those that a pass inserted."""
        return sum(beat.last and not beat.inserted for beat in self.dealt)


def prepare(cfg: Config, trace: Trace) -> Workload:
    """Cut a trace into beats. Raises :class:`WorkloadError` where the configuration cannot run it."""
    ctas = _ctas(trace)
    _check(cfg, trace, ctas)
    groups = [source_groups(i, cfg.source_slots) for i in trace.program]
    dealt = _dealt(cfg, trace, ctas)
    sectors = Sectors(cfg, trace, [warp for members in dealt for warp in members])
    beats: list[Beat] = []
    warps = tuple(_warp_beats(trace, groups, sectors, warp, beats) for warp in range(trace.warps))
    if cfg.hint_bits:
        _hint(cfg, trace, beats)
    if cfg.gives.absorbs:
        _tell_results(cfg, trace, beats)
    if len(beats) > 1 << cfg.payload_bits:
        raise WorkloadError(f"payload_bits must be at least {len(beats).bit_length()} for {len(beats)} beats")
    return Workload(trace, tuple(beats), warps, dealt, Kernel(trace.registers, trace.descriptor))


def dealt_ctas(cfg: Config, trace: Trace) -> tuple[tuple[int, ...], ...]:
    """The warps of every CTA that has some for the domain. Raises :class:`WorkloadError` where no CTA has any."""
    return _dealt(cfg, trace, _ctas(trace))


def _ctas(trace: Trace) -> tuple[tuple[int, ...], ...]:
    members: dict[int, list[int]] = {}
    for warp, cta in enumerate(trace.warp_cta.tolist()):
        members.setdefault(cta, []).append(warp)
    return tuple(tuple(warps) for warps in members.values())


def _dealt(cfg: Config, trace: Trace, ctas: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """The warps of every CTA that are the domain's; a CTA that has none for it does not exist there.

    Warps are counted over the whole launch, so that small CTAs spread over the domains.
    """
    shares, launched = list[tuple[int, ...]](), 0
    for members in ctas:
        if share := members[(cfg.domain - launched) % cfg.domains :: cfg.domains]:
            shares.append(share)
        launched += len(members)
    if not shares:
        raise WorkloadError(
            f"domain must be below {launched} for {trace.kernel}, not {cfg.domain}: the launch has no more warps"
        )
    return tuple(shares)


def _check(cfg: Config, trace: Trace, ctas: tuple[tuple[int, ...], ...]) -> None:
    if trace.registers > cfg.register_names:
        raise WorkloadError(
            f"register_names must be at least {trace.registers} for {trace.kernel}, not {cfg.register_names}"
        )
    _check_scheme(cfg, trace)
    largest = max(map(len, ctas))
    resident = cfg.domains * cfg.resident_warps(trace.registers, trace.descriptor)
    if largest > resident:
        raise WorkloadError(
            f"a CTA of {trace.kernel} has {largest} warps of {trace.registers} registers, but only {resident} such"
            " warps fit this SM: use smaller CTAs, or more warps or rows"
        )
    if trace.shared_bytes > cfg.shared_bytes:
        raise WorkloadError(
            f"shared_bytes must be at least {trace.shared_bytes} for {trace.kernel}, not {cfg.shared_bytes}"
        )
    for instruction in trace.program:
        _check_registers(instruction)
    for warp in range(trace.warps):
        _check_end(trace, warp)


def _check_scheme(cfg: Config, trace: Trace) -> None:
    """Values must be there if the machine decides by them, pseudo-instructions and descriptor as it takes them."""
    if cfg.decides_by_values and not trace.has_values:
        raise WorkloadError(
            f"{trace.kernel} must have register values, by which this scheme decides, and this trace of"
            f" {trace.source} has none: run a scheme that does not, or execute the kernel from its machine code"
        )
    for static in trace.program:
        bits = max(1, static.operand.bit_length())
        if static.kind == Kind.SCHEME and bits > cfg.operand_bits:
            raise WorkloadError(
                f"operand_bits must be at least {bits} for {static.text!r}, not {cfg.operand_bits}:"
                f" {trace.kernel} is annotated for {trace.annotation or 'another scheme'}"
            )
    if not cfg.descriptor:
        return
    fields, given = dict(kernel_fields(cfg)), {"registers": trace.registers} | trace.descriptor
    if fields.keys() != given.keys():
        raise WorkloadError(
            f"{trace.kernel} must be annotated for this scheme: its descriptor must have {', '.join(fields)}, not"
            f" {', '.join(given)}"
        )
    for name, width in fields.items():
        if not 0 <= given[name] < 1 << width:
            raise WorkloadError(f"{name} of {trace.kernel}'s descriptor must fit {width} bits, not {given[name]}")


def _check_end(trace: Trace, warp: int) -> None:
    """Without an EXIT at its end a warp would stay resident without end, and a unit must not keep it from leaving."""
    start, end = int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])
    if start == end:
        raise WorkloadError(f"warp {warp} of {trace.kernel} must execute at least an EXIT, but its stream is empty")
    last = trace.program[int(trace.instruction[end - 1])]
    named = f"{last.text!r} at {last.offset:#x}"
    if not _can_end(last):
        raise WorkloadError(f"warp {warp} of {trace.kernel} must end in an EXIT, not in {named}")
    if last.port != Port.NONE:
        raise WorkloadError(f"warp {warp} of {trace.kernel} must end on port NONE, not on {last.port.name} ({named})")


def _check_registers(instruction: StaticInstruction) -> None:
    """What the machine relies on: nothing beside the operand stage has operands, a wide result is one aligned group."""
    count = instruction.dest_count
    size = 1 << max(0, count - 1).bit_length()
    if not 0 <= count <= 4 or (count and instruction.dest % size):
        raise WorkloadError(
            f"{instruction.text!r} at {instruction.offset:#x} must write one, or an aligned two to four registers"
        )
    where = f"{instruction.text!r} at {instruction.offset:#x}"
    if instruction.port == Port.NONE and (instruction.sources or count):
        raise WorkloadError(f"{where} must have an execution port, because it has vector registers")
    if instruction.kind == Kind.BARRIER and instruction.port != Port.NONE:
        raise WorkloadError(f"{where} must have no execution port, because it is a barrier")
    if instruction.kind == Kind.SCHEME:
        if instruction.port != Port.NONE or instruction.token_reads or instruction.token_writes:
            raise WorkloadError(f"{where} must have neither execution port nor tokens: it is a pseudo-instruction")
    elif instruction.drain or instruction.operand:
        raise WorkloadError(f"{where} must be a pseudo-instruction, because it has an operand or drains")


def _warp_beats(
    trace: Trace, groups: list[tuple[tuple[int, ...], ...]], sectors: Sectors, warp: int, beats: list[Beat]
) -> tuple[Beat, ...]:
    start, end = int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])
    columns = (trace.instruction, trace.active, trace.execute, trace.live, trace.value_row, trace.address_row)
    records = zip(*(column[start:end].tolist() for column in columns), strict=True)
    current: dict[int, int] = {}
    first = len(beats)
    for record, (index, active, execute, live, value_row, address_row) in enumerate(records, start):
        static = trace.program[index]
        template = _template(static, record, execute, ends_warp=record == end - 1)
        template.full, template.converged = execute == live, active == live
        _append_beats(beats, template, static, groups[index], current, value_row)
        if static.space in (Space.GLOBAL, Space.LOCAL) and address_row >= 0:
            beats[-1].sectors = sectors.of(static, warp, address_row, execute)
            beats[-1].transfers = sectors.transfers(beats[-1].sectors)
        elif static.space == Space.SHARED and address_row >= 0:
            beats[-1].transfers = degree(static, execute, trace.addresses[address_row].tolist())
        if execute:
            _note_values(current, static, value_row)
    return tuple(beats[first:])


def _hint(cfg: Config, trace: Trace, beats: list[Beat]) -> None:
    """Give every beat its hints."""
    if not trace.annotation:
        raise WorkloadError(f"{trace.kernel} must be annotated for this scheme, but its trace has no hints")
    if len(trace.hints) != len(beats):
        raise WorkloadError(
            f"{trace.kernel} must be annotated for source_slots={cfg.source_slots}: it has {len(beats)} beats, but"
            f" {len(trace.hints)} hints ({trace.annotation})"
        )
    for beat, hints in zip(beats, trace.hints.tolist(), strict=True):
        beat.hints = hints
        beat.answered = beat.port != Port.NONE and cfg.answers(hints)
        if not beat.mask and beat.port != Port.NONE and cfg.passes(hints):
            beat.passes, beat.sources, beat.expected, beat.dest_count, beat.token_writes = True, (), (), 0, 0


def _tell_results(cfg: Config, trace: Trace, beats: list[Beat]) -> None:
    """Tell what loads give that may never leave the machine, so that a model can check what they get instead."""
    values = RowValues(trace, cfg.lanes)
    for beat in beats:
        if beat.is_load and beat.space == Space.GLOBAL and beat.dest_count == 1:
            beat.result_words = values.packed(beat.result_row)


def _template(static: StaticInstruction, record: int, execute: int, ends_warp: bool) -> Beat:
    """What all beats of an executed instruction have in common."""
    return Beat(
        payload=0,
        record=record,
        offset=static.offset,
        port=int(static.port),
        kind=_kind(static, ends_warp),
        sources=(),
        dest=0,
        dest_count=0,
        token_reads=static.token_reads,
        token_writes=0,
        mask=execute,
        first=False,
        last=False,
        space=int(static.space),
        is_load=static.access in (Access.LOAD, Access.ATOMIC),
        is_atomic=static.access == Access.ATOMIC,
        drain=int(static.drain),
        operand=static.operand,
        inserted=static.inserted,
    )


def _note_values(current: dict[int, int], static: StaticInstruction, value_row: int) -> None:
    """From here on the destinations hold these values, or something that the trace does not know."""
    for k, register in enumerate(static.dests):
        current[register] = value_row + k if value_row >= 0 else NO_VALUE


def _append_beats(
    beats: list[Beat],
    template: Beat,
    static: StaticInstruction,
    groups: tuple[tuple[int, ...], ...],
    current: dict[int, int],
    value_row: int,
) -> None:
    count = len(groups)
    for number, sources in enumerate(groups):
        beat = replace(template, payload=len(beats), sources=sources, first=number == 0, last=number == count - 1)
        beat.expected = tuple(current.get(register, NO_VALUE) for register in sources)
        if beat.last:
            beat.dest, beat.dest_count = static.dest, static.dest_count
            beat.token_writes = static.token_writes
            beat.result_row = value_row if beat.executes else NO_VALUE
        beats.append(beat)


def _can_end(static: StaticInstruction) -> bool:
    """Whether a warp may end here: an EXIT, also a guarded one, which is a branch for the lanes that stay."""
    return static.kind == Kind.EXIT or (static.kind == Kind.BRANCH and static.opcode.startswith("EXIT"))


def _kind(static: StaticInstruction, ends_warp: bool) -> int:
    if ends_warp:
        return int(Kind.EXIT)
    return int(Kind.BRANCH if static.kind == Kind.EXIT else static.kind)


def streams(workload: Workload) -> list[deque[Beat]]:
    """Fresh queues of the beats of every warp, for one environment to consume."""
    return [deque(beats) for beats in workload.warps]
