"""A unit whose sources are looked up later, as a structure: the bits that it adds to a collector unit."""

from warpfile.hdl.collectors.units.collectors import Units
from warpfile.hdl.stamp import convert
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import RfcConfig
from warpfile.synth.netlist import instance_counts, read_modules


def config(lanes=1, **changes):
    values = {**PRESETS["isca2011"].config.to_json(), "lanes": lanes, "warps": 4, "collectors": 4}
    return RfcConfig(**RfcConfig.adapted({**values, **changes} | {"scheduler": "two_level"}))


def bits(cfg):
    """Flip-flops of every kind of part, all its instances together."""
    modules, sums = read_modules(convert(lambda: Units(cfg), "units")), {}
    counts = instance_counts(modules, "units")
    for name, facts in modules.items():
        sums[name] = sums.get(name, 0) + facts.flip_flops * counts[name]
    return sums


def known(cfg):
    """What a collector unit over a plain register file has."""
    beat = cfg.warp_bits + 2 + cfg.register_bits + 3 + cfg.lanes + cfg.payload_bits
    return 1 + beat + cfg.source_slots * (cfg.register_bits + cfg.bank_bits + cfg.row_bits + 2) + cfg.collectors


def test_a_unit_adds_what_the_tag_check_needs():
    cfg = config()
    slots = cfg.source_slots
    added = 1 + slots * (1 + 3)  # checked; per slot an unread hit and its line
    added += 1 + 1 + slots * 2  # full, the result's hint, per slot the hints of its line
    held = bits(cfg)
    assert held["checked_unit"] == cfg.collectors * (known(cfg) + added)
    assert held["checked_lane"] == cfg.collectors * slots * 32
    assert held["units.ages"] == cfg.collectors * (cfg.collectors - 1) // 2


def test_where_nothing_is_near_a_unit_only_waits_for_the_look_up():
    cfg = config(cache_entries=0)
    held = bits(cfg)
    assert held["checked_unit"] == cfg.collectors * (known(cfg) + 1 + 1 + 1)  # checked, full, the result's hint
    assert held["collector_lane"] == cfg.collectors * cfg.source_slots * 32 and "checked_lane" not in held


def test_control_does_not_grow_with_lanes():
    narrow, wide = bits(config()), bits(config(lanes=4))
    grown = {name: wide[name] - narrow[name] for name in narrow if wide[name] != narrow[name]}
    units, slots = config().collectors, config().source_slots
    assert grown == {"checked_unit": units * 3, "checked_lane": 3 * units * slots * 32}  # execution masks, operands
