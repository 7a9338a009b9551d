"""The lanes, and what they are told (sections 7.2 and 7.3)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of, lowest_one, select
from warpfile.hdl.collectors.read_window.beats import banks_of, window_places
from warpfile.hdl.collectors.read_window.lanes import WORD, QueueLane, WindowLane
from warpfile.hdl.collectors.read_window.stages import FIXED, Stages
from warpfile.hdl.naming import named
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.modern import POSITIONS, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS


def join_operands(m: Module, cfg: ReadWindowConfig, collectors: wiring.Component, stages: Stages) -> None:
    """Drive ``operands`` of all ports."""
    window, queue = _to_window(m, cfg, stages), _to_queues(m, stages)
    for number in range(cfg.lanes):
        words = collectors.fill_data[number]
        lane = stamp(m, f"window_lane{number}", "window_lane", lambda: WindowLane(cfg))
        m.d.comb += [
            lane.banks.eq(words),
            lane.result.eq(collectors.result_data[0].word_select(number, WORD)),
            lane.masks.eq(Cat(mask[number] for mask in stages.history.masks)),
            *(getattr(lane, name).eq(value) for name, value in window.items()),
        ]
        heads = stamp(m, f"queue_lane{number}", "queue_lane", lambda: QueueLane(cfg))
        m.d.comb += heads.banks.eq(_for_heads(cfg, stages, words))
        m.d.comb += [getattr(heads, name).eq(value) for name, value in queue.items()]
        for slot in range(cfg.source_slots):
            here = slice(number * WORD, number * WORD + WORD)
            m.d.comb += collectors.operands[FIXED][slot][here].eq(lane.operands.word_select(slot, WORD))
            for q, port in enumerate(cfg.queue_ports):
                word = heads.operands.word_select(q * cfg.source_slots + slot, WORD)
                m.d.comb += collectors.operands[port][slot][here].eq(word)


def _for_heads(cfg: ReadWindowConfig, stages: Stages, words: Value) -> Value:
    """Of what the banks have read, the words that are for heads of queues."""
    ports = cfg.read_ports
    if ports == 1:
        return words
    banks = [[words.word_select(bank * ports + port, WORD) for port in range(ports)] for bank in range(BANKS)]
    return Cat(select(stages.queues.from_port[bank], read) for bank, read in enumerate(banks))


def _to_queues(m: Module, stages: Stages) -> dict[str, Value]:
    odd = Cat(Cat(banks_of(head.registers)) for head in stages.heads)
    return {"arrived": named(m, "arrived", Cat(stages.queues.arrived)), "odd": named(m, "odd", odd)}


def _to_window(m: Module, cfg: ReadWindowConfig, stages: Stages) -> dict[str, Value]:
    """Where the operands of the beat in X come from, and which of them are kept."""
    beat, places = stages.window.out, window_places(cfg)
    banks = banks_of(beat.registers)
    chosen = Cat(
        place & (bank if number else ~bank).replicate(places)
        for place, bank in zip(beat.places, banks, strict=True)
        for number in range(BANKS)
    )
    told = {"places": chosen, "forward": stages.history.forward}
    if cfg.reuses:
        at = [Cat(position == slot for slot in range(cfg.source_slots)) for position in beat.positions]
        entries, keep = [], []
        for slot, bank in enumerate(banks):
            first = lowest_one(Cat(here[slot] for here in at))
            cached = first & (~beat.places[slot].any()).replicate(POSITIONS)
            entries.append(Cat(Cat(one & ~bank, one & bank) for one in cached))
        for position, here in enumerate(at):
            odd = any_of(one & bank for one, bank in zip(here, banks, strict=True))
            kept = stages.window.valid[-1] & beat.reuse[position]
            keep.append(Cat(kept & ~odd, kept & odd))
        told |= {"entries": Cat(entries), "keep": Cat(keep), "kept": Cat(at)}
    return {name: named(m, f"to_{name}", value) for name, value in told.items()}
