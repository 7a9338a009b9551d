"""Every proof holds, can fail, and is about something that happens."""

import pytest

from tests.formal.proofs import PROOFS
from tests.formal.prover import prove

CASES = [pytest.param(proof, id=proof.name, marks=[pytest.mark.regress] if proof.regress else []) for proof in PROOFS]
CONTROLS = [
    pytest.param(proof, broken, id=f"{proof.name}-{broken}".replace(" ", "_"), marks=case.marks)
    for case, proof in zip(CASES, PROOFS, strict=True)
    for broken in proof.wrong
]


@pytest.mark.parametrize("proof", CASES)
def test_the_properties_hold_forever(proof, tmp_path):
    verdict = prove(proof.properties(), "prove", proof.depth)
    (tmp_path / "counterexample.vcd").write_text(verdict.trace)
    assert verdict.passed, f"{', '.join(verdict.failed)}: see {tmp_path}"


@pytest.mark.check
@pytest.mark.parametrize("proof", CASES)
def test_the_covers_are_reached(proof):
    verdict = prove(proof.properties(), "cover", proof.reach)
    assert verdict.passed, verdict.failed


@pytest.mark.check
@pytest.mark.parametrize(("proof", "broken"), CONTROLS)
def test_a_wrong_part_breaks_the_property(proof, broken):
    verdict = prove(proof.wrong[broken](), "bmc", proof.reach, only=broken)
    assert verdict.failed == (broken,) and "$enddefinitions" in verdict.trace
