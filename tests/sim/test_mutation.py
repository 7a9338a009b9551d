"""Small faults in the control logic are seen by the lockstep, and a proof of equivalence is not given away."""

import re
from pathlib import Path

import pytest

from warpfile.compiler.passes.pilot.exact import accesses
from warpfile.golden.run import simulate
from warpfile.pages.mutation import Bundled, Row, assess, closed_rows, configured, mutants_of, report
from warpfile.schemes import SCHEMES, find
from warpfile.sim.build import generated_verilog
from warpfile.sim.mutation.campaign import Verdict, campaign
from warpfile.sim.mutation.cases import StressTrace
from warpfile.sim.mutation.mutants import Mutant, YosysError, control_modules, equivalent, mutate
from warpfile.sim.mutation.suites import (
    BORROWED,
    COUNTED,
    MARCHING,
    RANDOM_SHARING,
    SEARCHED,
    SECTIONED,
    TRACES,
    UNCACHED,
)
from warpfile.sim.mutation.survivors import survivors
from warpfile.sim.simulators import SimulatorError
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Kind

BASELINE = SCHEMES["baseline"]
CFG = configured(BASELINE, "tiny")
COUNT = 64
PAGES = sorted((Path(__file__).resolve().parents[2] / "docs").glob("mutation-*.md"))
OLDER = "**Of an earlier design, not of today's.**"
#: ``d & a`` is never 1, so the gate that gives it may be stuck at 0. What is behind a RAM's inputs is not seen.
SMALL = """\
module part(input a, input b, output y);
  wire c, d;
  assign c = a & b;
  assign d = c ^ b;
  assign y = (d & a) | b;
endmodule
module small_ram(input clk, input d, output reg q);
  always @(posedge clk) q <= d;
endmodule
module store(input clk, input a, input b, output y);
  wire d;
  assign d = a & b;
  small_ram ram(.clk(clk), .d(d), .q(y));
endmodule
module warpfile(input clk, input a, input b, output reg y, output z);
  wire next;
  part inner(.a(a), .b(b), .y(next));
  store memory(.clk(clk), .a(a), .b(b), .y(z));
  always @(posedge clk) y <= next;
endmodule
"""
#: Placed in the top module: logic that drives itself, once this number is active.
_LOOP = 100
_SWING = f"  wire swing /*verilator public_flat_rd*/;\n  assign swing = mutsel == {_LOOP} & ~swing;\n"


def small_mutant(*words):
    """The first mutant of the small machine whose command has these words."""
    mutants = mutate(SMALL, 200, ["part", "store"])[1]
    return next(mutant for mutant in mutants if all(word in mutant.command for word in words))


@pytest.fixture(scope="module")
def machine(root):
    """The baseline with its mutants, and with logic that does not settle as mutant ``_LOOP``."""
    verilog, mutants = mutants_of(BASELINE, "tiny", COUNT, root / "build")
    return re.sub(r"(  reg \[6:0\] mutsel .*\n)", rf"\1{_SWING}", verilog), mutants


@pytest.mark.check
def test_the_list_of_mutants_is_always_the_same(machine, root):
    _, mutants = machine
    assert [mutant.number for mutant in mutants] == list(range(COUNT))
    assert mutants == mutants_of(BASELINE, "tiny", COUNT, root / "build")[1]


@pytest.mark.check
def test_most_mutants_die_on_a_short_trace_and_the_machine_without_one_passes(machine, root):
    verilog, mutants = machine
    loop = Mutant(_LOOP, "warpfile", "", "")
    stress = StressTrace("mixed", 0, 24, 4)
    # A machine that differs without a mutant, or a run that breaks off, raises.
    *verdicts, settles = campaign(BASELINE, CFG, verilog, [*mutants, loop], [stress], root / "build")
    killed = [verdict for verdict in verdicts if verdict.killed]
    assert COUNT / 2 <= len(killed) < COUNT, [verdict.result for verdict in verdicts]
    assert settles.fields == ("the logic does not settle",)
    assert not any(verdict.fields == settles.fields for verdict in killed)


def test_a_trace_with_tokens_writes_one_with_every_register():
    some, every = (
        StressTrace("chain", 4, 24, 2, tokens=tokens).trace(BASELINE, CFG).program for tokens in (False, True)
    )
    assert all(static.token_writes.bit_count() == 1 for static in every if static.dest_count)
    assert any(not static.token_writes for static in some if static.dest_count)


@pytest.mark.check
def test_kernels_kill_too_and_one_that_does_not_fit_is_passed_over(machine, root):
    verilog, mutants = machine
    loads = [Bundled("matmul_tiled"), Bundled("divide")]
    assert [load.workload(BASELINE, CFG) is None for load in loads] == [True, False]
    verdicts = campaign(BASELINE, CFG, verilog, mutants, loads, root / "build")
    assert {verdict.trace for verdict in verdicts} == {"divide", ""}
    assert sum(verdict.killed for verdict in verdicts) >= COUNT / 2


def starved(case, after):
    """How often a warp of ``rfc`` leaves its place because it had no beat for so many cycles."""
    scheme = SCHEMES["rfc"]
    cfg = configured(scheme, "tiny").replace(starved_after=after)
    if (workload := case.workload(scheme, cfg)) is None:
        return 0
    layout = ProbeLayout(scheme.probes(cfg))
    model = scheme.golden(cfg, layout)
    simulate(model, Environment(cfg, workload, layout))
    return model.counters["suspends_starved"]


@pytest.mark.check
def test_no_place_is_starved_for_half_the_time_that_it_takes():
    """The reason of two survivors of ``rfc``, whose ``starved_after`` is 32."""
    cases = [*TRACES, *SEARCHED]
    assert configured(SCHEMES["rfc"], "tiny").starved_after == 32
    assert not any(starved(case, 16) for case in cases)
    assert any(starved(case, 4) for case in cases)


@pytest.mark.check
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_last_trace_uses_every_bit_of_the_payload(scheme):
    cfg = configured(SCHEMES[scheme], "tiny")
    workload = TRACES[-1].workload(SCHEMES[scheme], cfg)
    assert 3 << cfg.payload_bits - 2 < len(workload.beats) <= 1 << cfg.payload_bits


def test_a_run_that_breaks_off_is_no_kill(machine, root, monkeypatch):
    verilog, mutants = machine
    monkeypatch.setattr(
        "warpfile.sim.mutation.campaign.found_path", lambda finished, number: finished.with_name("nowhere.json")
    )
    with pytest.raises(SimulatorError, match="broke off"):
        campaign(BASELINE, CFG, verilog, mutants[:1], [StressTrace("mixed", 0, 24, 1)], root / "build")


def test_a_machine_that_differs_without_a_mutant_is_refused(machine, root, monkeypatch):
    verilog, mutants = machine
    obvious = next(mutant for mutant in mutants if mutant.module == "dispatch_arbiter")
    monkeypatch.setattr("warpfile.sim.mutation.campaign.NO_MUTANT", obvious.number)
    with pytest.raises(ValueError, match="without a mutant must pass mixed 0/24"):
        campaign(BASELINE, CFG, verilog, mutants[:1], [StressTrace("mixed", 0, 24, 4)], root / "build")


@pytest.mark.parametrize("more", [13, 14, 15])
def test_the_number_of_the_mutant_is_no_port_wherever_yosys_breaks_the_line(more):
    ports = "".join(f", input more{number}" for number in range(more))  # with 14 it is the twentieth, and a line ends
    verilog = mutate(SMALL.replace("output z);", f"output z{ports});"), 4, ["part"])[0]
    header = re.search(r"module warpfile\(([^)]*)\)", verilog)[1]
    assert len(header.split(",")) == 5 + more and "mutsel" not in header


def test_a_mutant_without_a_visible_effect_is_proven_equivalent():
    assert equivalent(SMALL, small_mutant("-mode const0", "-cell $and$machine.v:5", "-port Y"))
    assert not equivalent(SMALL, small_mutant("-mode inv", "-cell $or$machine.v:5", "-port B"))


def test_a_mutant_of_what_goes_into_a_ram_is_not_equivalent():
    assert not equivalent(SMALL, small_mutant("-mode inv", "-cell $and$machine.v:12", "-port Y"))
    assert not equivalent(SMALL, small_mutant("-mode const1", "-cell ram", "-port d"))


def test_a_mutant_that_shows_only_where_no_run_comes_is_proven_from_the_reset():
    stuck = SMALL.replace("output z);", "output z);\n  reg [1:0] never = 2'h0;\n  wire seen;").replace(
        "y <= next;", "begin y <= next ^ seen; never <= {never[1] & a, a}; end\n  assign seen = never[1] & b;"
    )
    mutants = mutate(stuck, 200, ["warpfile"])[1]
    hidden, plain = (
        next(one for one in mutants if f"{port}[{bit}] in `seen = never[1] & b" in one.place and "inv" in one.place)
        for port, bit in (("B", 0), ("Y", 0))
    )
    assert [equivalent(stuck, one, reset=reset) for one in (hidden, plain) for reset in (False, True)] == [
        False, True, False, False
    ]  # fmt: skip


def test_a_mutant_of_no_cell_is_an_error():
    with pytest.raises(YosysError, match="yosys stopped"):
        equivalent(SMALL, Mutant(0, "part", "mutate -mode inv -module part -cell nowhere -port B -portbit 0", ""))


@pytest.mark.parametrize("said", ["No matching port in gate module", "Conflicting init values for signal 1'0"])
def test_a_mutant_whose_registers_yosys_cannot_pair_is_not_proven(monkeypatch, said):
    def stopped(*arguments):
        raise YosysError(f"yosys stopped: ERROR: {said}")

    hidden = small_mutant("-mode const0", "-cell $and$machine.v:5", "-port Y")
    monkeypatch.setattr("warpfile.sim.mutation.mutants._yosys", stopped)
    assert not equivalent(SMALL, hidden, reset=True)


def test_only_control_modules_that_the_other_machine_lacks_are_mutated(root):
    assert control_modules(SMALL) == ("part", "store")
    renamed = SMALL.replace("part", "piece").replace("input a", "input [3:0] a")
    assert control_modules(SMALL, renamed) == ()
    assert control_modules(SMALL, renamed.replace("c ^ b", "c | b")) == ("part",)
    assert control_modules(SMALL, SMALL.replace("c ^ b", "c | b")) == ()
    rewritten = SMALL.replace("c = a & b", "c = a").replace("c ^ b", "c | b").replace("wire c, d", "wire d, c")
    assert control_modules(SMALL, rewritten) == ("part",)
    names = control_modules(generated_verilog(BASELINE, CFG, root / "build"))
    assert {"warpfile.frame.scheduler", "warpfile.register_file.location", "collector_unit"} <= set(names)
    assert not {"warpfile", "register_bank_ram", "register_bank.ram", "write_lane"} & set(names)


def test_nothing_to_mutate_is_an_error():
    with pytest.raises(ValueError, match="not 0 modules"):
        mutate(SMALL, 10, control_modules(SMALL, SMALL))


def test_the_report_counts_and_lists():
    mutant = Mutant(0, "part", "", "inv of A[0] in `a | b`")
    verdicts = [
        Verdict(mutant, "mixed 0", 7, ("grant",)),
        Verdict(mutant, equivalent=True),
        Verdict(mutant, reason="of no use"),
        Verdict(mutant),
    ]
    page = report(list(map(Row.of, verdicts)), "baseline", "tiny")
    assert "1 killed, 1 proven equivalent, 1 listed with a reason, 1 open." in page
    assert "| 0 | `part` | inv of A[0] in `a \\| b` | killed by `mixed 0` in cycle 7: grant |" in page


def test_what_a_page_has_settled_is_kept_and_only_for_the_same_mutants():
    mutants = [Mutant(number, "part", "", f"inv of A[{number}] in `a | b`") for number in range(4)]
    rows = [
        Row.of(Verdict(mutants[0], "mixed 0", 7, ("grant",))),
        Row.of(Verdict(mutants[1])),
        Row.of(Verdict(mutants[2], reason="of no use | at all")),
        Row.of(Verdict(mutants[3], equivalent=True)),
    ]
    page = report(rows, "baseline", "tiny")
    kept = closed_rows(page, mutants)
    assert [row.number for row in kept] == [0, 2, 3]
    again = report(sorted([*kept, rows[1]], key=lambda row: row.number), "baseline", "tiny")
    assert again == page
    for other in (mutants[:3], [*mutants[:3], Mutant(3, "part", "", "inv of B[3] in `a | b`")]):
        with pytest.raises(ValueError, match="the page is of other mutants: run all of them, without --open"):
            closed_rows(page, other)


@pytest.mark.check
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_todays_mutants_or_says_that_it_is_older(page, root):
    mutants = mutants_of(SCHEMES[page.stem.removeprefix("mutation-")], "tiny", COUNT, root / "build")[1]
    text = page.read_text()
    try:
        closed_rows(text, mutants)
    except ValueError:
        assert OLDER in text
    else:
        assert OLDER not in text


@pytest.mark.regress
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_mutant_dies_or_is_explained_and_the_page_says_so(scheme, root):
    mutated, mutants = mutants_of(SCHEMES[scheme], "tiny", COUNT, root / "build")
    verdicts = assess(SCHEMES[scheme], "tiny", mutated, mutants, root / "build", print)
    assert not [verdict.mutant for verdict in verdicts if verdict.open]
    given = [(verdict.mutant.module, verdict.mutant.place) for verdict in verdicts if verdict.reason]
    known = [(one.module, one.place) for one in survivors(SCHEMES[scheme]) if one.preset == "tiny"]
    assert sorted(given) == sorted(known), "every reason must be the reason of one survivor"
    assert (root / "docs" / f"mutation-{scheme}.md").read_text() == report(
        [Row.of(verdict) for verdict in verdicts], scheme, "tiny"
    )


def test_traces_without_room_for_their_warps_are_left_out() -> None:
    pilot, rfc = SCHEMES["pilot"], SCHEMES["rfc"]
    releases = next(load for load in TRACES if load.name == "release 0")
    assert releases.workload(pilot, configured(pilot, "tiny")) is None
    assert releases.workload(rfc, configured(rfc, "tiny")) is not None


def test_traces_that_borrow_have_one_section_for_all_warps_and_one_for_each() -> None:
    scheme, pilot = SCHEMES["regmutex"], SCHEMES["pilot"]
    assert BORROWED[0].workload(pilot, configured(pilot, "tiny")) is None
    cfg = configured(scheme, "tiny")
    found = set()
    for load in BORROWED[:3]:
        workload = load.workload(scheme, cfg)
        assert workload is not None
        found.add(workload.trace.descriptor["sections"])
    assert found == {1, cfg.warps}


def test_traces_with_sections_have_every_size_and_none_is_taken_where_they_are_lost() -> None:
    scheme, pilot = SCHEMES["regmutex"], SCHEMES["pilot"]
    assert SECTIONED[0].workload(pilot, configured(pilot, "tiny")) is None
    workloads = [load.workload(scheme, configured(scheme, "tiny")) for load in SECTIONED]
    sizes = [workload.trace.descriptor["base_registers"] for workload in workloads]
    lost = [load.lost for load in SECTIONED]
    assert sorted(size for size, less in zip(sizes, lost, strict=True) if not less) == [*range(1, 64)]
    for workload, less in zip(workloads, lost, strict=True):
        operands = {static.operand for static in workload.trace.program if static.kind == Kind.SCHEME}
        assert operands == ({0} if less else {0, 1})


def test_what_no_interval_has_is_written_once_by_each_kind_of_port_of_machines_with_intervals() -> None:
    scheme, regmutex = find("ltrf"), SCHEMES["regmutex"]
    cfg = configured(scheme, "tiny")
    assert UNCACHED[0].workload(regmutex, configured(regmutex, "tiny")) is None
    for load in UNCACHED:
        workload = load.workload(scheme, cfg)
        assert workload is not None
        assert [static.operand for static in workload.trace.program if static.kind == Kind.SCHEME] == [0]
        layout = ProbeLayout(scheme.probes(cfg))
        model = scheme.golden(cfg, layout)
        simulate(model, Environment(cfg, workload, layout))
        assert model.counters["error_cycles"] > 0


def test_programs_whose_loads_meet_are_for_machines_that_absorb_loads() -> None:
    larf, rfc = find("larf"), SCHEMES["rfc"]
    for load in (RANDOM_SHARING[0], RANDOM_SHARING[-1]):
        assert load.workload(rfc, configured(rfc, "tiny")) is None
        assert load.workload(larf, configured(larf, "tiny")) is not None


def test_traces_that_march_are_for_machines_whose_values_share_rows() -> None:
    corf, baseline = find("corf"), SCHEMES["baseline"]
    assert MARCHING[0].workload(baseline, configured(baseline, "tiny")) is None
    assert MARCHING[0].workload(corf, configured(corf, "tiny")) is not None


def test_traces_that_count_are_for_machines_that_profile() -> None:
    corf = find("corf")
    assert COUNTED[0].workload(corf, configured(corf, "tiny")) is None


def test_traces_that_count_reach_every_bit_of_a_counter() -> None:
    """More than 65,535 accesses, and fewer beats than have numbers; the last pair has the marker in it."""
    pilot = SCHEMES["pilot"]
    workload = COUNTED[-1].workload(pilot, configured(pilot, "tiny"))
    assert workload is not None and workload.registers == 64
    assert accesses(workload.trace).most_common(1)[0][1] > 65_535
