"""Way of the results and of flushed lines, for all inputs, against the rules of docs/schemes/rfc.md."""

import itertools
import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.rf.rfc.check import TagCheck
from warpfile.hdl.rf.rfc.flush import FlushEngine
from warpfile.hdl.rf.rfc.ports import ReadPorts
from warpfile.hdl.rf.rfc.results import SHORT_EVENTS, LongResult, ShortResult
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import RfcConfig


def config(**changes):
    return RfcConfig(**RfcConfig.adapted({**PRESETS["tiny"].config.to_json(), **changes} | {"scheduler": "two_level"}))


def answers(part, inputs, outputs):
    """Of every row of inputs, given by name, the outputs that are set."""
    rows = []

    async def bench(ctx):
        for row in inputs:
            for name, value in row.items():
                ctx.set(getattr(part, name), value)
            rows.append({name for name in outputs if ctx.get(getattr(part, name))})

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
    return rows


def all_inputs(*names):
    return [dict(zip(names, row, strict=True)) for row in itertools.product((0, 1), repeat=len(names))]


def short_way(full, hinted, hit, line, **others):
    """Rules 1, 2 and 3: where an accepted short result goes."""
    if hit:
        return "write_hit"
    if hinted:
        return "bypass_hint"
    if not full:
        return "bypass_partial"
    return "take" if line else "bypass_full"


def test_a_short_result_goes_where_the_rules_say():
    names = ("valid", "full", "hinted", "hit", "line", "victim", "victim_dead", "own_full", "victim_full", "port")
    # A victim of either kind is a line, and not both.
    rows = [r for r in all_inputs(*names) if not (r["victim"] and r["victim_dead"])]
    rows = [row for row in rows if row["line"] or not (row["victim"] or row["victim_dead"])]
    outputs = ("accept", *SHORT_EVENTS, "evict", "evict_dead", "claims", "queues")
    for row, seen in zip(rows, answers(ShortResult(), rows, outputs), strict=True):
        way = short_way(**row)
        queues = way.startswith("bypass") or (way == "take" and row["victim"])
        able = row["valid"] and (way != "take" or not row["victim"] or row["port"])
        expected = {"claims"} if able and queues else set()
        if able and not (queues and row["victim_full" if way == "take" else "own_full"]):
            expected |= {"accept", way} | ({"queues"} if queues else set())
            if way == "take":
                expected |= {"evict"} if row["victim"] else set()
                expected |= {"evict_dead"} if row["victim_dead"] else set()
        assert seen == expected


def test_a_long_result_passes_by_the_cache_unless_it_writes_some_lanes_of_a_line():
    names = ("valid", "full", "met", "leaves", "taken", "written", "queue_full", "queue_taken")
    # The short result uses the write port for one line; only a line that is met may be the one that it takes.
    rows = [row for row in all_inputs(*names) if not (row["taken"] and row["written"]) and row["leaves"] <= row["met"]]
    outputs = ("accept", "merge", "drop", "claims", "queues")

    def expected_of(row, hit):
        if row["valid"] and hit and not row["full"]:
            return set() if row["taken"] or row["written"] else {"accept", "merge"}
        if row["valid"] and not row["queue_taken"]:
            drop = {"drop"} if hit else set()
            return {"claims"} | (set() if row["queue_full"] else {"accept", "queues"} | drop)
        return set()

    would = ("would_merge", "would_drop")
    for row, seen in zip(rows, answers(LongResult(), rows, (*outputs, *would)), strict=True):
        after_hit = expected_of(row, True) & {"merge", "drop"}
        hit = row["met"] and not (row["leaves"] and row["taken"])
        assert seen == expected_of(row, hit) | {f"would_{one}" for one in after_hit}


def test_source_slots_read_before_a_victim_and_that_before_a_flush():
    part = ReadPorts()

    async def bench(ctx):
        for reads, evict, flush in itertools.product(range(8), (0, 1), (0, 1)):
            ctx.set(part.reads, reads)
            left = [port for port in range(3) if not reads >> port & 1]
            assert ctx.get(part.victim_left) == bool(left)
            evicts = evict and bool(left)
            ctx.set(part.evict, evicts)
            assert ctx.get(part.victim_port) == (1 << left.pop(0) if evicts else 0)
            assert ctx.get(part.flush_left) == bool(left)
            flushes = flush and bool(left)
            ctx.set(part.flush, flushes)
            assert ctx.get(part.flush_port) == (1 << left[0] if flushes else 0)
            ctx.set(part.evict, 0)
            ctx.set(part.flush, 0)

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize(("places", "lines"), ((1, 1), (2, 3), (4, 2)))
def test_the_lowest_place_sends_its_lowest_line(places, lines):
    part, rng = FlushEngine(config(active_warps=places, cache_entries=lines)), random.Random(places)
    seen = set()

    async def bench(ctx):
        for _ in range(500):
            release, count = rng.getrandbits(places), places * lines
            valid = rng.getrandbits(count)
            worthless = rng.getrandbits(count) & valid
            for name, value in (("release", release), ("valid", valid), ("worthless", worthless)):
                ctx.set(getattr(part, name), value)
            leaving = [n for n in range(count) if valid >> n & 1 and release >> n // lines & 1]
            dropped = sum(1 << n for n in leaving if worthless >> n & 1)
            kept = [n for n in leaving if not worthless >> n & 1]
            first = kept[0] if kept else None
            assert ctx.get(part.dropped) == dropped
            assert ctx.get(part.line) == (0 if first is None else 1 << first)
            assert ctx.get(part.place) == (0 if first is None else 1 << first // lines)
            seen.add((bool(kept), bool(dropped)))

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen >= {(False, True), (True, False)}


def test_a_tag_check_finds_every_source_that_is_there():
    cfg = config(cache_entries=5, source_slots=3)
    part, rng = TagCheck(cfg), random.Random(7)

    async def bench(ctx):
        for _ in range(300):
            tags, sources = rng.sample(range(8), 5), rng.sample(range(8), 3)
            valid, wanted = rng.getrandbits(5), rng.getrandbits(3)
            ctx.set(part.valid, valid)
            ctx.set(part.wanted, wanted)
            for number, tag in enumerate(tags):
                ctx.set(part.tags[number], tag)
            for slot, register in enumerate(sources):
                ctx.set(part.registers[slot], register)
            held = {tag: number for number, tag in enumerate(tags) if valid >> number & 1}
            hits = {slot: held[r] for slot, r in enumerate(sources) if r in held and wanted >> slot & 1}
            assert ctx.get(part.hits) == sum(1 << slot for slot in hits)
            assert ctx.get(part.lines) == sum(1 << line for line in hits.values())
            for slot, line in hits.items():
                assert ctx.get(part.entries[slot]) == line

    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()
