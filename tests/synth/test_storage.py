"""Bits of a design by the structures of its scheme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from warpfile.schemes import SCHEMES, TOP
from warpfile.spec.structure import FRAME, KINDS, Structure
from warpfile.synth.netlist import instance_counts, read_modules
from warpfile.synth.storage import REST, STAGED, storage

Wide = Callable[[str], str]

every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


@pytest.mark.check
@every_scheme
def test_every_bit_belongs_to_one_structure(wide: Wide, scheme: str) -> None:
    text = wide(scheme)
    found = storage(SCHEMES[scheme], SCHEMES[scheme].configuration(SCHEMES[scheme].preset), text)
    modules = read_modules(text)
    counts = instance_counts(modules, TOP)
    memories = sum(memory.bits * number for name, number in counts.items() for memory in modules[name].memories)
    assert sum(row.bits for row in found if row.kind == "memory") == memories
    flip_flops = sum(modules[name].flip_flops * number for name, number in counts.items())
    assert sum(row.bits for row in found if row.kind != "memory") == flip_flops
    assert not [row for row in found if row.name == REST.name]


@pytest.mark.check
@every_scheme
def test_bits_are_those_published_or_the_table_says_why_not(wide: Wide, scheme: str) -> None:
    found = storage(SCHEMES[scheme], SCHEMES[scheme].configuration(SCHEMES[scheme].preset), wide(scheme))
    published = [row for row in found if row.published is not None]
    assert published
    assert not [row.name for row in published if row.bits != row.published and not row.why]


def test_the_papers_own_totals_are_reached() -> None:
    """Per SM: Malekeh's 1,024 bits (four sub-cores), the dissertation's 7,680 tag bits of 32 windows, RFC's 6 KB."""
    published: Counter[str] = Counter()
    for name, domains in (("malekeh", 4), ("bow_wr", 4), ("rfc", 1)):
        cfg = SCHEMES[name].configuration(SCHEMES[name].preset)
        for one in SCHEMES[name].stored:
            published[f"{name}: {one.name}"] += domains * (one.published(cfg) if one.published else 0)
    new = ("tags", "locks", "near bits", "order of use", "entry of each source slot")
    assert sum(published[f"malekeh: {name}"] for name in new) == 1024
    tags = ("registers of the entries", "states, owners, ranks, pins of the entries")
    assert sum(published[f"bow_wr: {name}"] for name in tags) == 7680
    assert published["rfc: cache lines"] == 6 * 1024 * 8


def test_a_register_that_no_structure_names_is_not_lost(wide: Wide) -> None:
    text = wide("baseline").replace(f"module {TOP}(", f"module {TOP}(extra, ", 1)
    place = text.index(";", text.index(f"module {TOP}(")) + 2
    text = f"{text[:place]}  reg [6:0] extra;\n  always @(posedge clk)\n    extra <= 7'h0;\n{text[place:]}"
    cfg = SCHEMES["baseline"].configuration("turing")
    (rest,) = [row for row in storage(SCHEMES["baseline"], cfg, text) if row.name == REST.name]
    assert rest.bits == 7


def test_kinds_are_known_and_names_differ() -> None:
    for scheme in SCHEMES.values():
        assert {one.kind for one in scheme.stored} <= set(KINDS)
        names = [one.name for one in scheme.stored]
        assert len(names) == len(set(names))
    assert all(isinstance(one, Structure) for one in FRAME)


@pytest.mark.check
@pytest.mark.parametrize(("form", "kind"), [("latches", "latches"), ("memory", "memory")])
@pytest.mark.parametrize(("name", "row"), [("bow_wr", "window entries"), ("rfc", "cache lines")])
def test_an_array_of_operands_has_its_bits_in_every_form(name: str, row: str, form: str, kind: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration("tiny", lanes=2, storage=form)
    found = {one.name: one for one in storage(scheme, cfg, scheme.verilog(cfg, probes=False))}
    assert found[row].kind == kind
    assert found[row].bits == found[row].published == sum(32 * one.rows * one.instances for one in cfg.operand_arrays)
    staged = found.get(STAGED.name)
    writes = sum(one.writes * cfg.lanes * (cfg.warps if name == "bow_wr" else 1) for one in cfg.operand_arrays)
    assert (staged is not None) == (form == "latches")
    assert staged is None or staged.bits >= 32 * writes


@pytest.mark.parametrize("gating", ["none", "arrays"])
def test_bits_behind_clock_gates_are_counted(gating: str) -> None:
    """Of a beat's entry all but the valid bit."""
    scheme = SCHEMES["baseline"]
    cfg = scheme.configuration("tiny", lanes=1, clock_gating=gating)
    found = {one.name: one for one in storage(scheme, cfg, scheme.verilog(cfg, probes=False))}
    entries = cfg.warps * cfg.buffer_depth
    buffers = found["instruction buffers"]
    assert buffers.gated == (buffers.bits - entries if gating == "arrays" else 0)
    assert found["scoreboards"].gated == 0 < found["scoreboards"].bits
