"""The uniform datapath computes like the vector one, once per warp."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import result, run, words
from warpfile.emulator.errors import ExecutionError

M = 2**32 - 1
WORD = st.integers(0, M) | st.sampled_from([0, 1, 2**31 - 1, 2**31, M])
LOAD = "R2UR UR5, R2\nR2UR UR6, R3\nR2UR UR7, R4\n"

PAIRS = [
    ("IADD3 R0, R2, -R3, R4", "UIADD3 UR4, UR5, -UR6, UR7"),
    ("IMAD R0, R2, R3, R4", "UIMAD UR4, UR5, UR6, UR7"),
    ("LEA R0, R2, R3, 0x5", "ULEA UR4, UR5, UR6, 0x5"),
    ("LEA.HI R0, R2, R3, R4, 0x3", "ULEA.HI UR4, UR5, UR6, UR7, 0x3"),
    ("LEA.HI.SX32 R0, R2, R3, 0x1e", "ULEA.HI.SX32 UR4, UR5, UR6, 0x1e"),
    ("LOP3.LUT R0, R2, R3, R4, 0x96, !PT", "ULOP3.LUT UR4, UR5, UR6, UR7, 0x96, !UPT"),
    ("SHF.R.S32.HI R0, RZ, R3, R4", "USHF.R.S32.HI UR4, URZ, UR6, UR7"),
    ("SHF.L.U64.HI R0, R2, R3, R4", "USHF.L.U64.HI UR4, UR5, UR6, UR7"),
    ("PRMT R0, R2, 0x6250, R4", "UPRMT UR4, UR5, 0x6250, UR7"),
    ("POPC R0, R2", "UPOPC UR4, UR5"),
    ("BREV R0, R2", "UBREV UR4, UR5"),
    ("FLO.U32 R0, R2", "UFLO.U32 UR4, UR5"),
    ("FLO R0, R2", "UFLO UR4, UR5"),
    ("FLO.U32.SH R0, R2", "UFLO.U32.SH UR4, UR5"),
    ("MOV R0, R2", "UMOV UR4, UR5"),
    ("VIMNMX R0, R2, R3, PT", "UVIMNMX.S32 UR4, UR5, UR6, UPT"),
    ("VIMNMX.U32 R0, R2, 0x40, !PT", "UVIMNMX.U32 UR4, UR5, 0x40, !UPT"),
    ("FADD R0, R2, R3", "UFADD UR4, UR5, UR6"),
    ("FMUL R0, R2, -R3", "UFMUL UR4, UR5, -UR6"),
    ("FFMA R0, R2, R3, R4", "UFFMA UR4, UR5, UR6, UR7"),
]


@settings(max_examples=25, deadline=None)
@given(WORD, WORD, WORD)
def test_uniform_opcodes_compute_like_their_counterparts(a: int, b: int, c: int) -> None:
    registers = {2: words(a), 3: words(b), 4: words(c)}
    for vector, uniform in PAIRS:
        found = result(f"{LOAD}{uniform}\nMOV R0, UR4", registers)[0]
        assert found == result(vector, registers)[0], uniform


@settings(max_examples=25, deadline=None)
@given(WORD, WORD)
def test_uniform_predicates(a: int, b: int) -> None:
    code = f"""{LOAD}UISETP.LT.U32.AND UP0, UPT, UR5, UR6, UPT
        UISETP.LT.AND UP1, UPT, UR5, UR6, UPT
        UPLOP3.LUT UP2, UPT, UP0, UP1, UPT, 0x3c, 0x0
        USEL UR4, UR5, UR6, UP2
        @UP0 IADD3 R1, RZ, 0x1, RZ
        MOV R0, UR4"""
    warp = run(code, {2: words(a), 3: words(b)})
    signed = [word - 2**32 if word >> 31 else word for word in (a, b)]
    below, signed_below = a < b, signed[0] < signed[1]
    assert warp.registers[0][0] == (a if below != signed_below else b)
    assert warp.registers[1][0] == below


def test_special_registers_and_carries() -> None:
    code = """S2UR UR4, SR_CTAID.X
        UIADD3 UR5, UP0, UR6, -0x1, URZ
        UIADD3.X UR7, URZ, URZ, URZ, UP0, !UPT
        UIMAD.WIDE.U32 UR8, UR5, UR5, URZ
        R2UR UR10, R2
        MOV R0, UR9
        MOV R1, UR10
        MOV R3, UR7"""
    warp = run(code, {2: words(9, 8)})
    assert warp.registers[0][0] == (M * M) >> 32
    assert (warp.registers[1][0], warp.registers[3][0]) == (9, 0)


def test_constants_of_sm_100() -> None:
    constants = np.arange(128, dtype=np.uint32)
    code = """LDCU UR4, c[0x0][0x14]
        LDCU.64 UR6, c[0x0][0x20]
        LDCU.128 UR8, c[0x0][0x30]
        LDCU.U8 UR12, c[0x0][UR4+0xb]
        MOV R0, UR4
        MOV R1, UR7
        MOV R2, UR11
        MOV R3, UR12"""
    warp = run(code, constants=constants.tobytes())
    assert warp.registers[:4, 0].tolist() == [5, 9, 15, 4]


def test_no_effect() -> None:
    code = """YIELD
        NANOSLEEP 0x14
        MEMBAR.SC.GPU
        ERRBAR
        DEPBAR.LE SB0, 0x1
        CCTL.IVALL
        CCTLL.IVALL
        PMTRIG 0x1
        LDGDEPBAR
        CGAERRBAR
        ACQBULK
        PREEXIT
        NOP"""
    warp = run(code)
    assert not warp.registers.any()
    assert len(warp.records) == 14


def test_lepc_is_the_instruction_itself() -> None:
    warp = run("NOP\nLEPC R2")
    assert warp.registers[2:4, 0].tolist() == [0x10, 0]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (
            "TEX.SCR.LL RZ, R4, R4, R6, 0x0, 0x58, 2D, 0x1",
            "textures and surfaces are not supported (TEX.SCR.LL at 0x0010)",
        ),
        ("TLD.SCR.LZ RZ, R4, R4, 0x0, 0x58, 1D, 0x1", "textures and surfaces are not supported"),
        ("TLD4.SCR.R RZ, R4, R4, R6, 0x0, 0x58, 2D, 0x1", "textures and surfaces are not supported"),
        ("TXD R6, R4, R8, R12, 0x0, 0x58, 2D", "textures and surfaces are not supported"),
        ("TXQ R6, R4, TEX_HEADER_DIMENSION, 0x0, 0x1", "textures and surfaces are not supported"),
        ("TMML RZ, R4, R4, 0x0, 0x58, 2D, 0x1", "textures and surfaces are not supported"),
        ("SULD.D.BA.2D.STRONG.CTA.TRAP R4, [R2], R8", "textures and surfaces are not supported"),
        ("SUST.D.BA.2D.STRONG.CTA.TRAP [R2], R4, R8", "textures and surfaces are not supported"),
        ("SUATOM.D.BA.2D.ADD R4, [R2], R4, R8", "textures and surfaces are not supported"),
        ("SURED.D.BA.2D.ADD [R2], R4, R8", "textures and surfaces are not supported"),
        ("CALL.ABS.NOINC R2", "CALL.ABS at 0x0010 calls code outside of the listing (printf, malloc, assert)"),
        ("BPT.TRAP 0x1", "the kernel trapped at 0x0010"),
        ("WARPSYNC.COLLECTIVE R5, `(end)\nend:", "execute as one are not supported (WARPSYNC.COLLECTIVE at 0x0010)"),
        ("ENDCOLLECTIVE", "execute as one are not supported (ENDCOLLECTIVE at 0x0010)"),
    ],
)
def test_what_cannot_be_executed_is_an_error_only_where_lanes_reach_it(code: str, text: str) -> None:
    assert run(f"MOV R0, 0x5\n@!PT {code}").registers[0][0] == 5
    assert run(f"BRA `(over)\n{code}\nover:\nMOV R0, 0x5").registers[0][0] == 5
    with pytest.raises(ExecutionError) as error:
        run(f"MOV R0, 0x5\n{code}")
    assert text in str(error.value)
    assert "\n" not in str(error.value)


def test_killed_lanes_are_gone() -> None:
    assert run("@P0 KILL\nMOV R0, 0x1", predicates={0: 3}).registers[0][:4].tolist() == [0, 0, 1, 1]
