"""Stamped parts come out once, deterministically, with stable names."""

import re

import pytest

from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config

CFG = Config(warps=3, lanes=4, ctas=2, banks=2, rows=16, collectors=2, register_names=16, payload_bits=16)


@pytest.fixture(scope="module")
def verilog():
    return SCHEMES["baseline"].verilog(CFG, probes=True)


def test_every_module_is_defined_once(verilog):
    modules = re.findall(r"(?m)^module\s+(\S+?)\s*\(", verilog)
    assert len(modules) == len(set(modules))
    assert {"warpfile", "collector_unit", "register_bank", "register_bank_ram", "collector_lane"} <= set(modules)


def test_parts_are_instantiated_as_often_as_the_configuration_says(verilog):
    def instances(module):
        return len(re.findall(rf"(?m)^  {module} \S+ \(", verilog))

    assert instances("register_bank") == CFG.banks
    assert instances("collector_unit") == CFG.collectors
    assert instances("collector_lane") == CFG.lanes
    assert instances("warp_scoreboard") == CFG.warps


def test_conversion_is_deterministic(verilog):
    assert SCHEMES["baseline"].verilog(CFG, probes=True) == verilog


def test_the_probe_port_is_left_out_unless_asked_for(verilog):
    plain = SCHEMES["baseline"].verilog(CFG, probes=False)
    top = re.search(r"(?ms)^module warpfile\(.*?\);", plain)
    assert top and "probe" not in top[0]
    assert "probe" in re.search(r"(?ms)^module warpfile\(.*?\);", verilog)[0]
