"""What the SRAM of a bank says of its collisions holds: no machine needs an answer where a row is read and written."""

from __future__ import annotations

import pytest

from warpfile.schemes import SCHEMES, Scheme
from warpfile.sim.build import generated_verilog
from warpfile.sim.runner import cosim
from warpfile.spec.config import Config
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.schemes.ported import PortedConfig
from warpfile.spec.schemes.renamed import RenamedConfig
from warpfile.spec.stress import stress_trace

READ = "    if (read_enable) read_data <= rows[read_address];\n"
SAME_ROW = "write_enable && write_address == read_address"
#: The renaming table: what one port reads while the other one writes.
TABLE_READ = "      else read_data{own} <= rows[address{own}];\n"


#: Their banks have one port, which reads or writes; their tables have two.
RENAMED = [name for name, scheme in SCHEMES.items() if issubclass(scheme.parameters, RenamedConfig)]


def configuration(scheme: Scheme) -> Config:
    """Two lanes over two-port banks, so that reads and writes come in the same cycles, some of one lane only.

    ``ltrf`` has two-port banks in its cache anyway.
    """
    ports = {} if issubclass(scheme.parameters, LtrfConfig) else {"bank_ports": "1R1W"}
    return scheme.configuration("tiny", lanes=2, **ports)


def unanswered(verilog: str, when: str, value: str = "'bx") -> str:
    """The machine with SRAMs that give no value, or this one, where a read meets a write."""
    assert READ in verilog
    unknown = READ.replace("if (read_enable)", f"if (read_enable && {when})").replace("rows[read_address]", value)
    return verilog.replace(READ, READ + unknown)


def no_value(lanes: str) -> str:
    """A row without a value in the lanes for which this holds."""
    words = (f"{lanes.format(lane)} ? 32'bx : rows[read_address][{32 * lane}+:32]" for lane in (1, 0))
    return f"{{{', '.join(words)}}}"


def unused(scheme: Scheme) -> str:
    """What the SRAM of a bank may answer: under ``read_window`` with anything in the lanes that are written."""
    return no_value("mask[{}]") if issubclass(scheme.parameters, PortedConfig) else "'bx"


def wrong_table(verilog: str, when: str) -> str:
    """The machine with a renaming table that gives a wrong entry where a port reads and the other one writes."""
    for own, other in ((0, 1), (1, 0)):
        read = TABLE_READ.format(own=own)
        assert read in verilog
        meets = f"enable{other} && write{other} && {when}"
        value = f"({meets} ? ~rows[address{own}] : rows[address{own}])"
        verilog = verilog.replace(read, read.replace(f"rows[address{own}]", value))
    return verilog


@pytest.mark.check
@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("name", RENAMED)
@pytest.mark.parametrize(("when", "differ"), [("address0 == address1", False), ("1", True)])
def test_no_entry_of_the_table_is_read_in_the_cycle_of_its_write(root, name, when, differ):
    """Nothing is read where the other port writes; a table that is wrong for any row then is found."""
    scheme, trace = SCHEMES[name], stress_trace(0, warps_per_cta=[2, 3], ctas=3, length=60, profile="bank")
    cfg = scheme.configuration("tiny")
    verilog = wrong_table(generated_verilog(scheme, cfg, root / "build"), when)
    options = {"simulator": "icarus", "build_root": root / "build", "explain": False}
    report = cosim(scheme, cfg, trace, verilog=verilog, **options)
    assert bool(report.outcome.mismatches) == differ, report.outcome.first_mismatch


@pytest.mark.needs("iverilog")
@pytest.mark.parametrize("name", [name for name in SCHEMES if name not in RENAMED])
def test_a_read_that_meets_a_write_of_its_row_is_never_used(root, name):
    scheme = SCHEMES[name]
    cfg = configuration(scheme)
    verilog = unanswered(generated_verilog(scheme, cfg, root / "build"), SAME_ROW, unused(scheme))
    for seed, profile in enumerate(("bank", "mixed", "mask")):
        trace = stress_trace(seed, warps_per_cta=[2, 3], ctas=3, length=60, profile=profile)
        report = cosim(scheme, cfg, trace, simulator="icarus", build_root=root / "build", verilog=verilog)
        assert report.outcome.mismatches == 0, report.outcome.first_mismatch
        assert report.outcome.operands_checked == report.outcome.golden_operands_checked > 0


@pytest.mark.needs("iverilog")
def test_the_read_window_uses_lanes_that_a_write_of_the_row_leaves_as_they_are(root):
    """A partial write, and a later beat that reads all lanes in its cycle: why these have an answer above."""
    scheme = SCHEMES["modern"]
    cfg = configuration(scheme)
    verilog = unanswered(generated_verilog(scheme, cfg, root / "build"), SAME_ROW, no_value("!mask[{}]"))
    trace = stress_trace(0, warps_per_cta=[2, 3], ctas=3, length=60, profile="mask")
    options = {"simulator": "icarus", "build_root": root / "build", "explain": False}
    report = cosim(scheme, cfg, trace, verilog=verilog, **options)
    assert report.outcome.mismatches and "operand" in report.outcome.first_mismatch["fields"]


@pytest.mark.needs("iverilog")
def test_reads_that_meet_any_write_are_used(root):
    """The same fault is found where it is one."""
    scheme = SCHEMES["baseline"]
    cfg = configuration(scheme)
    verilog = unanswered(generated_verilog(scheme, cfg, root / "build"), "write_enable")
    trace = stress_trace(0, warps_per_cta=[2, 3], ctas=3, length=60, profile="bank")
    options = {"simulator": "icarus", "build_root": root / "build", "explain": False}
    report = cosim(scheme, cfg, trace, verilog=verilog, **options)
    assert report.outcome.mismatches and "operand" in report.outcome.first_mismatch["fields"]


def test_both_kinds_of_bank_state_their_rules():
    text = {
        ports: SCHEMES["baseline"].verilog(
            SCHEMES["baseline"].configuration("tiny", bank_ports=ports, bank_cycles=3), probes=False
        )
        for ports in ("1RW", "1R1W")
    }
    assert "no row is read and written in one cycle" in text["1RW"]
    assert "with the old row, the new one or neither" in text["1R1W"]
    assert all("used in cycle t + 3 only" in one for one in text.values())
    window = SCHEMES["modern"].verilog(SCHEMES["modern"].configuration("tiny"), probes=False)
    assert "the machine uses the lanes that the write does not change" in window
