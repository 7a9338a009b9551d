"""What Hopper and Blackwell have beyond warps of their own is refused by the name that its users know."""

from __future__ import annotations

import pytest

from tests.emulator.harness import listing, run
from warpfile.compiler import parse
from warpfile.compiler.unsupported import unsupported
from warpfile.emulator.errors import ExecutionError


@pytest.mark.parametrize(
    ("code", "feature"),
    [
        ("WARPGROUP.ARRIVE\nHGMMA.64x64x16.F32 R24, gdesc[UR8], RZ, !UPT", "wgmma (products of four warps)"),
        ("SYNCS.EXCH.64 URZ, [UR4], UR6\nUBLKCP.S.G [UR8], [UR6], UR4", "TMA (bulk copies)"),
        ("UTMALDG.2D [UR8], [UR4]", "TMA (bulk copies)"),
        (
            "UTCATOMSWS.AND URZ, UR4\nSYNCS.EXCH.64 URZ, [UR4], UR6",
            "tcgen05 (products in tensor memory)",
        ),
        ("LDTM.x16 R4, tmem[UR4]", "tcgen05 (products in tensor memory)"),
        ("UCGABAR_ARV\nUCGABAR_WAIT", "clusters of several CTAs"),
        ("FENCE.VIEW.ASYNC.S\nSYNCS.ARRIVE.TRANS64 RZ, [UR4], R2", "mbarrier (cuda::barrier)"),
    ],
)
def test_a_feature_is_refused_by_its_name(code: str, feature: str) -> None:
    with pytest.raises(ExecutionError) as error:
        run(code)
    assert f": kernel must not use {feature}: not executed (" in str(error.value)


def test_an_opcode_of_no_such_feature_is_named_itself() -> None:
    code = "S2R R0, SR_TID.X\nFENCE.VIEW.ASYNC.S"
    assert unsupported(parse(listing(code), "k.sass").functions["k"]) is None
    with pytest.raises(ExecutionError, match=r"line 4: opcode must be one with known operands, not FENCE\.VIEW"):
        run(code)
