"""Bits of the pool as the page and the reference design count them, from the netlist."""

import re

import pytest

from tests.sm import whole
from warpfile.hdl.rf.regmutex.sections import sharing
from warpfile.hdl.verilog import verilog
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.synth.netlist import instance_counts, read_modules


@pytest.mark.parametrize(
    ("changes", "bits"),
    [
        ({}, {"held": 48, "taken": 48, "section": 288, "waiting": 48}),
        ({"fair": 1}, {"held": 48, "taken": 48, "section": 288, "waiting": 48, "entry": 288, "count": 6}),
        ({"sharing": "pairs"}, {"held": 48, "waiting": 48}),
        ({"sharing": "pairs", "pair_state": "pair"}, {"pairs": 24, "waiting": 48}),
    ],
    ids=str,
)
def test_sections_have_the_bits_of_the_reference_design(changes, bits):
    values = PRESETS["fermi_linear"].config.to_json() | whole("fermi_linear") | changes
    cfg = RegMutexConfig(**RegMutexConfig.adapted(values))
    modules, found = read_modules(verilog(sharing(cfg), "top")), {}
    for name in instance_counts(modules, "top"):
        for register, width in modules[name].registers.items():
            kind = re.match("[a-z]*", register)[0]
            found[kind] = found.get(kind, 0) + width
    assert found == bits
