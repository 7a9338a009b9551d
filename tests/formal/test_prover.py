"""The prover tells what holds, what does not, what it cannot decide, and what went wrong."""

import pytest
from amaranth import Module, Signal
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Cover
from amaranth.lib import wiring

import tests.formal.prover as prover
from tests.formal.proofs import PAGE, table
from tests.formal.properties import inside
from tests.formal.prover import ProverError, label, prove


class Counter(wiring.Component):
    """Counts 0, 1, 2, 0: that it is never 9 is true, but no induction that starts at 8 can know."""

    def __init__(self):
        super().__init__({})

    def elaborate(self, platform):
        m = Module()
        count, go = Signal(4, name="count"), Signal()
        m.d.comb += go.eq(AnySeq(1))
        with m.If(go):
            m.d.sync += count.eq(count + 1)
        with m.If(count == 2):
            m.d.sync += count.eq(0)
        m.d.comb += [
            Assert(count != 9, "never nine"),
            Assert(count != 2, "never two"),
            Cover(count == 1, "one"),
            Cover(count == 3, "three"),
        ]
        return m


def test_a_violation_is_named_and_has_a_trace():
    verdict = prove(Counter(), "bmc", 6)
    assert not verdict.passed and verdict.failed == ("never two",) and "$enddefinitions" in verdict.trace


def test_what_induction_cannot_decide_does_not_pass():
    assert prove(Counter(), "bmc", 6, only="never nine").passed
    verdict = prove(Counter(), "prove", 3, only="never nine")
    assert not verdict.passed and verdict.failed == ("never nine",)


def test_an_unreachable_cover_is_named():
    assert prove(Counter(), "cover", 6).failed == ("three",)


def test_only_must_be_an_assertion():
    with pytest.raises(ValueError, match="only must be an assertion of the part, not 'never three'"):
        label(prover.design(Counter()), "never three")


def test_mode_must_be_known():
    with pytest.raises(ValueError, match="mode must be one of prove, bmc, cover, not 'guess'"):
        prove(None, "guess", 1)


def test_a_refused_job_is_an_error_with_its_first_complaint(monkeypatch):
    monkeypatch.setattr(prover, "_SOLVER", "cat")  # a program, but no solver
    with pytest.raises(ProverError, match=r"smtbmc stopped: \S"):
        prove(Counter(), "bmc", 1)
    monkeypatch.setattr(prover, "_MODEL", "read_rtlil nothing.il\n")
    with pytest.raises(ProverError, match=r"yosys stopped: ERROR: File .nothing.il"):
        prove(Counter(), "bmc", 1)


def test_a_missing_solver_is_named(monkeypatch):
    monkeypatch.setattr(prover.tools, "find", lambda name: None)
    with pytest.raises(ProverError, match="z3 is missing"):
        prove(Counter(), "bmc", 1)


def test_a_signal_inside_must_exist():
    from amaranth.hdl import Fragment

    fragment = Fragment.get(Counter(), None)
    assert inside(fragment, "count").name == "count"
    with pytest.raises(LookupError, match="last must be one of count"):
        inside(fragment, "last")


@pytest.mark.check
def test_the_page_of_proofs_is_up_to_date():
    assert PAGE.read_text() == table()
