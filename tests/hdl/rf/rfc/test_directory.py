"""Lines that two steps of one cycle are about, in hand-made cycles (docs/schemes/rfc.md, section 3)."""

import pytest
from amaranth.sim import Simulator

import warpfile.hdl.rf.rfc.directory as module
from warpfile.hdl.rf.rfc.directory import CacheDirectory
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import RfcConfig

WARPS = {0: 3, 1: 1}  #: the warp of each place


@pytest.fixture(autouse=True)
def _tags_are_simulated(monkeypatch):
    """Amaranth's simulator has no instances: every place gets tags of its own."""

    def inline(m, name, module, build, *, clocked=True):
        m.submodules[name] = part = build()
        return part

    monkeypatch.setattr(module, "stamp", inline)


def config(**changes):
    return RfcConfig(**RfcConfig.adapted({**PRESETS["tiny"].config.to_json(), **changes} | {"scheduler": "two_level"}))


def directory(steps, **changes):
    """Drive inputs cycle by cycle; ``steps`` are pairs of inputs and of what has to be seen in that cycle.

    A long result would do to its line what it does, unless a step says otherwise.
    """
    cfg = config(**{"active_warps": 2, "cache_entries": 2, "source_slots": 2} | changes)
    part = CacheDirectory(cfg)
    would = {"would_merge": "merge", "would_drop": "drop_long"}
    steps = [({one: inputs.get(other, 0) for one, other in would.items()} | inputs, seen) for inputs, seen in steps]
    arrays = {"check_registers", "read_entries"}

    async def bench(ctx):
        for place, warp in WARPS.items():
            ctx.set(part.places[place], 1 << warp)
        driven = {name for inputs, _ in steps for name in inputs}
        for cycle, (inputs, outputs) in enumerate(steps):
            for name in driven:
                value = inputs.get(name, [0, 0] if name in arrays else 0)
                ctx.set(getattr(part, name), value)
            seen = {name: ctx.get(getattr(part, name)) for name in outputs}
            assert (cycle, seen) == (cycle, outputs)
            await ctx.tick()

    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def take(warp, register):
    return {"short_warp": warp, "short_register": register, "take": 1}


#: Place 0 holds registers 10 and 11 of warp 3.
FILLED = [(take(3, 10), {"hit": 0, "line": 1, "victim": 0}), (take(3, 11), {"held": 0b0001})]


def test_a_load_is_told_that_its_line_may_be_the_one_that_a_short_result_takes():
    loads, other = ({"long_warp": 3, "long_register": register} for register in (10, 11))
    asks = {**take(3, 12), "take": 0}
    directory(
        [
            *FILLED,
            ({**asks, **loads}, {"victim": 1, "victim_register": 10, "long_met": 1, "long_leaves": 1}),
            ({**asks, **other}, {"victim": 1, "victim_register": 10, "long_met": 1, "long_leaves": 0}),
            ({**take(3, 12), **loads}, {"victim": 1, "victim_register": 10, "long_met": 1, "long_leaves": 1}),
            ({}, {"held": 0b0011}),
        ]
    )


def test_sources_in_a_line_that_goes_are_misses_and_pin_nothing():
    check = {"check_warp": 3, "check_valid": 0b11, "check_registers": [11, 10]}
    void = {"long_warp": 3, "long_register": 11, "drop_long": 1}
    directory([*FILLED, (check, {"hits": 0b11}), ({}, {"pinned": 0b0011})])
    directory([*FILLED, (check | take(3, 12), {"hits": 0b01}), ({}, {"pinned": 0b0010, "held": 0b0011})])
    directory([*FILLED, (check | void, {"hits": 0b10}), ({}, {"pinned": 0b0001, "held": 0b0001})])


def test_another_warp_finds_nothing():
    directory([*FILLED, ({"check_warp": 1, "check_valid": 1, "check_registers": [10, 0]}, {"hits": 0})])
    directory([*FILLED, ({"long_warp": 1, "long_register": 10}, {"long_met": 0})])
    directory([*FILLED, ({"long_warp": 2, "long_register": 0}, {"long_met": 0})])


def test_a_pinned_line_does_not_give_way():
    check = {"check_warp": 3, "check_valid": 0b01, "check_registers": [10, 0]}
    read = {"read_warp": 3, "reads": 0b01, "read_entries": [0, 0]}
    asks = {"short_warp": 3, "short_register": 12}
    directory(
        [
            *FILLED,
            (check, {"hits": 0b01}),
            ({**asks, **read}, {"victim_register": 11, "pinned": 0b0001}),
            (asks, {"victim_register": 10, "pinned": 0}),
        ]
    )
    both = {"check_warp": 3, "check_valid": 0b11, "check_registers": [10, 11]}
    directory([*FILLED, (both, {"hits": 0b11}), (asks, {"line": 0, "victim": 0})])


def test_a_place_is_let_go_in_the_cycle_after_its_last_line_went():
    release = {"release": 0b01}
    directory(
        [
            *FILLED,
            (release, {"flush_wanted": 1, "flush_register": 10, "flush_owner": 0b01, "flush": 0, "released": 0}),
            (release | {"flush_sent": 1}, {"flush": 0b01, "released": 0}),
            (release | {"flush_sent": 1}, {"flush_register": 11, "flush": 0b10, "held": 0b10, "released": 0}),
            (release, {"flush_wanted": 0, "held": 0, "released": 0b01}),
        ]
    )


@pytest.mark.parametrize(("dead_bits", "first"), (("honoured", 11), ("ignored", 10)))
def test_a_dead_line_need_not_be_sent(dead_bits, first):
    check = {"check_warp": 3, "check_valid": 0b01, "check_registers": [10, 0]}
    read = {"read_warp": 3, "reads": 0b01, "kills": 0b01, "read_entries": [0, 0]}
    dropped = int(dead_bits == "honoured")
    directory(
        [
            *FILLED,
            (check, {}),
            (read, {"dead": 0}),
            ({"release": 0b01}, {"dead": 0b01, "flush_dead": dropped, "flush_register": first}),
            ({}, {"held": 0b11 - dropped}),
        ],
        dead_bits=dead_bits,
    )


def test_a_dead_line_that_a_load_writes_lives_again_and_stays_for_this_cycle():
    check = {"check_warp": 3, "check_valid": 0b01, "check_registers": [10, 0]}
    read = {"read_warp": 3, "reads": 0b01, "kills": 0b01, "read_entries": [0, 0]}
    merge = {"long_warp": 3, "long_register": 10, "merge": 1}
    directory(
        [
            *FILLED,
            (check, {}),
            (read, {}),
            (
                {"release": 0b01, "flush_sent": 1} | merge,
                {"long_met": 1, "long_leaves": 0, "flush_dead": 0, "written": 0b01, "flush_barred": 0, "flush": 0b10},
            ),
            ({"release": 0b01}, {"dead": 0, "held": 0b01, "flush_register": 10}),
        ]
    )


@pytest.mark.parametrize(("event", "left"), (("merge", 0b11), ("drop_long", 0b10)))
def test_a_line_that_a_load_changes_is_not_sent_and_no_other_one_is(event, left):
    load = {"long_warp": 3, "long_register": 10, event: 1}
    other = {"long_warp": 3, "long_register": 11, event: 1}
    release, seen = {"release": 0b01}, {"flush_wanted": 1, "flush_register": 10, "flush": 0}
    directory([*FILLED, (release | load, seen | {"flush_barred": 1}), (release, {"held": left})])
    directory([*FILLED, (release | other, seen | {"flush_barred": 0})])


def test_a_line_that_gives_way_is_neither_sent_nor_a_hit_though_a_load_would_have_changed_it():
    late = {**take(3, 12), "long_warp": 3, "long_register": 10, "would_drop": 1}
    check = {"check_warp": 3, "check_valid": 0b11, "check_registers": [10, 11]}
    seen = {"long_met": 1, "long_leaves": 1, "hits": 0b10, "flush_register": 10, "flush_barred": 1, "flush": 0}
    directory([*FILLED, ({"release": 0b01} | late | check, seen), ({}, {"held": 0b11})])


def test_an_exit_drops_the_lines_of_its_warp():
    steps = [*FILLED, (take(1, 10), {}), ({"exits": 1 << 3}, {"held": 0b0111, "drop": 0b0011}), ({}, {"held": 0b0100})]
    directory(steps)
