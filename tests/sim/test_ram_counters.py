"""The counters that memories are priced by count what the SRAMs of the RTL are asked for at their pins."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from warpfile.schemes import SCHEMES, Scheme
from warpfile.sim.build import generated_verilog
from warpfile.sim.runner import cosim
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.structure import BANK_RAM
from warpfile.spec.trace import Trace

pytestmark = pytest.mark.needs("iverilog")

TRACE = stress_trace(7, warps_per_cta=[2], ctas=2, length=30, profile="mixed")
Accesses = Mapping[tuple[str, str], int]

_ENABLE = re.compile(r"input\s+(read_|write_)?enable(\d*)")
_LISTENER = """\
  integer log;
  initial log = $fopen("{log}", "a");
  always @(posedge clk) begin
{lines}  end
"""
_LINE = '    if ({condition}) begin $fdisplay(log, "{name} {kind}"); $fflush(log); end\n'


def listened(verilog: str, rams: Iterable[str], log: Path) -> str:
    """The machine, in which every SRAM notes the accesses at its pins."""
    for name in rams:
        pattern = rf"(?<=\n)(module {name} \(.*?)(?=endmodule\n)"
        head, body, rest = re.split(pattern, verilog, maxsplit=1, flags=re.DOTALL)
        lines = "".join(
            _LINE.format(condition=condition, name=name, kind=kind)
            for enable in _ENABLE.finditer(body)
            for kind, condition in conditions(enable[1] or "", enable[2])
        )
        verilog = head + body + _LISTENER.format(log=log, lines=lines) + rest
    return verilog


def conditions(kind: str, port: str) -> list[tuple[str, str]]:
    """When a port reads and when it writes."""
    if kind:
        return [(kind.rstrip("_"), f"{kind}enable{port}")]
    return [("write", f"enable{port} && write{port}"), ("read", f"enable{port} && !write{port}")]


def asked(
    scheme: Scheme, cfg: Config, root: Path, folder: Path, trace: Trace = TRACE
) -> tuple[Accesses, Mapping[str, int]]:
    """Accesses of the SRAMs in the RTL, and the counters of the run."""
    log = folder / "log.txt"
    text = listened(generated_verilog(scheme, cfg, root / "build"), cfg.rams, log)
    report = cosim(scheme, cfg, trace, simulator="icarus", build_root=root / "build", verilog=text)
    assert report.outcome.mismatches == 0
    lines = log.read_text().splitlines()
    return Counter((name, kind) for name, kind in map(str.split, lines)), report.outcome.counters


def counted(scheme: Scheme, counters: Mapping[str, int]) -> Accesses:
    """What the table of schemes says that they were asked for."""
    return {
        (ram, kind): sum(counters[name] for name in names)
        for ram, pair in scheme.rams.items()
        for kind, names in zip(("read", "write"), pair, strict=True)
    }


def check(name: str, root: Path, folder: Path, trace: Trace = TRACE, **changes: object) -> Mapping[str, int]:
    """Hold the counters of a run against the pins, and return them."""
    scheme = SCHEMES[name]
    cfg = scheme.configuration("tiny", **changes)
    found, counters = asked(scheme, cfg, root, folder, trace)
    said = dict(counted(scheme, counters))
    assert min(said.values()) > 0
    if "crossbar_beats" in cfg.to_json():  # a row goes to its bank piece by piece, other lanes in each cycle
        said[BANK_RAM, "write"] *= cfg.to_json()["crossbar_beats"]  # type: ignore[operator]
    assert found == said
    return counters


@pytest.mark.parametrize("name", ["corf_plus", "modern"])
def test_counters_are_the_accesses_of_the_rams(root: Path, tmp_path: Path, name: str) -> None:
    check(name, root, tmp_path)


@pytest.mark.regress
@pytest.mark.parametrize("name", [name for name in SCHEMES if name not in ("corf_plus", "modern")])
def test_counters_are_the_accesses_of_the_rams_of_every_scheme(root: Path, tmp_path: Path, name: str) -> None:
    check(name, root, tmp_path)


@pytest.mark.regress
def test_registers_that_move_are_read_and_written(root: Path, tmp_path: Path) -> None:
    """Of pilot, which does not move them by default."""
    counters = check("pilot", root, tmp_path, stress_trace(7, warps_per_cta=[2], ctas=6, length=30), remap="migrate")
    assert counters["migrated_pairs"] > 0


def test_an_access_that_is_not_counted_is_seen(root: Path, tmp_path: Path) -> None:
    """The same counters without those of the table's writes."""
    scheme = SCHEMES["corf_plus"]
    found, counters = asked(scheme, scheme.configuration("tiny"), root, tmp_path)
    assert found != counted(scheme, {**counters, "table_writes": 0})
