"""PTX instructions to SASS notation with virtual registers."""

from __future__ import annotations

import pytest

from warpfile.compiler.ptx.errors import PtxError
from warpfile.compiler.ptx.lower import Code, Lowered, lower
from warpfile.compiler.ptx.parse import parse_ptx

HEAD = """.visible .entry one(.param .u32 one_param_0, .param .u64 one_param_1) {
.reg .pred %p<4>; .reg .b16 %rs<2>; .reg .b32 %r<10>; .reg .f32 %f<10>; .reg .b64 %rd<4>; .reg .f64 %fd<4>;
.shared .align 4 .b8 word[64];
"""


def lowered(*lines: str) -> Lowered:
    return lower(parse_ptx(HEAD + "\n".join(lines) + "\nret;\n}"))


def texts(*lines: str) -> list[str]:
    """All but the EXIT at the end."""
    return [one.text for one in lowered(*lines).code[:-1] if isinstance(one, Code)]


@pytest.mark.parametrize(
    ("ptx", "sass"),
    [
        ("add.s32 %r1, %r2, -5;", ["IADD3 %r1, %r2, -0x5, RZ"]),
        ("sub.s32 %r1, %r2, 5;", ["IADD3 %r1, %r2, -0x5, RZ"]),
        ("add.s64 %rd1, %rd2, 4096;", ["IADD.64 %rd1, %rd2, 0x1000"]),
        ("mul.f32 %f1, %f2, 0f3F000000;", ["FMUL %f1, %f2, 0x3f000000"]),
        ("add.f64 %fd1, %fd2, 0d3FF0000000000000;", ["DADD %fd1, %fd2, 0x3ff0000000000000"]),
        ("sub.f32 %f1, %f2, 0f3F800000;", ["FADD %f1, %f2, 0xbf800000"]),
        ("sub.f64 %fd1, %fd2, 0d3FF0000000000000;", ["DADD %fd1, %fd2, 0xbff0000000000000"]),
        ("setp.ge.u32 %p1, %r1, %r2;", ["ISETP.GE.U32.AND %p1, PT, %r1, %r2, PT"]),
        ("selp.b32 %r1, %r2, 0, %p1;", ["SEL %r1, %r2, 0x0, %p1"]),
        ("mov.u32 %r1, %ctaid.y;", ["S2R %r1, SR_CTAID.Y"]),
        ("mov.u32 %r1, %nctaid.z;", ["MOV %r1, c[0x0][0x14]"]),
        ("mov.u32 %r1, word;", ["MOV %r1, 0x0"]),
        ("mov.pred %p1, 0;", ["PLOP3.LUT %p1, PT, !PT, PT, PT, 0xf0, 0x0"]),
        ("ld.param.u32 %r1, [one_param_0];", ["MOV %r1, c[0x0][0x160]"]),
        ("ld.param.u64 %rd1, [one_param_1];", ["MOV.64 %rd1, c[0x0][0x168]"]),
        ("ld.global.f32 %f1, [%rd1+-8];", ["LDG.E.SYS %f1, [%rd1+-0x8]"]),
        ("ld.global.nc.u8 %rs1, [%rd1];", ["LDG.E.U8.SYS %rs1, [%rd1]"]),
        ("ld.shared.u32 %r1, [word+12];", ["LDS %r1, [0xc]"]),
        ("ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r1+16];", ["LDS.128 %f1, [%r1+0x10]"]),
        ("st.global.v2.f64 [%rd1], {%fd1, %fd2};", ["STG.E.128.SYS [%rd1], %fd1"]),
        ("st.shared.u32 [%r1], 0;", ["STS [%r1], RZ"]),
        ("st.shared.u32 [%r1], 7;", ["MOV %temporary1, 0x7", "STS [%r1], %temporary1"]),
        ("atom.global.min.s32 %r1, [%rd1], %r2;", ["ATOMG.E.MIN.S32.STRONG.GPU PT, %r1, [%rd1], %r2"]),
        ("atom.shared.add.u32 %r1, [%r2], 1;", ["MOV %temporary1, 0x1", "ATOMS.ADD %r1, [%r2], %temporary1"]),
        ("shfl.sync.bfly.b32 %r1|%p1, %r2, 4, 31, -1;", ["SHFL.BFLY %p1, %r1, %r2, 0x4, 0x1f"]),
        ("shfl.sync.down.b32 %r1, %r2, %r3, 31, -1;", ["SHFL.DOWN PT, %r1, %r2, %r3, 0x1f"]),
        ("mov.b64 %rd1, {%r1, %r2};", ["MOV %rd1:0, %r1", "MOV %rd1:1, %r2"]),
        ("mov.b64 {%r1, %r2}, %fd1;", ["MOV %r1, %fd1:0", "MOV %r2, %fd1:1"]),
        ("mov.b32 %r1, {%rs0, %rs1};", ["PRMT %r1, %rs0, 0x5410, %rs1"]),
        ("mov.b32 {%rs0, %rs1}, %r1;", ["PRMT %rs0, %r1, 0x4410, RZ", "PRMT %rs1, %r1, 0x4432, RZ"]),
        ("and.b64 %rd1, %rd2, 0xFF00000001;", None),
        ("bar.sync 0;", ["BAR.SYNC 0x0"]),
    ],
)
def test_an_instruction_becomes(ptx: str, sass: list[str] | None) -> None:
    low, high = "LOP3.LUT %rd1:0, %rd2:0, 0x1, RZ, 0xc0, !PT", "LOP3.LUT %rd1:1, %rd2:1, 0xff, RZ, 0xc0, !PT"
    assert texts(ptx) == (sass or [low, high])


def test_definitions_and_uses_are_by_register_and_a_second_word_kills_nothing() -> None:
    high, low, _ = lowered("shl.b64 %rd1, %rd2, %r1;").code
    assert isinstance(high, Code) and isinstance(low, Code)
    assert (high.defs, high.kills, high.uses) == (("rd1",), ("rd1",), ("rd2", "r1", "rd2"))
    assert (low.defs, low.kills, low.uses) == (("rd1",), (), ("rd2", "r1"))


def test_a_register_in_two_groups_is_copied() -> None:
    found = lowered(
        "ld.global.v2.f32 {%f1, %f2}, [%rd1];",
        "st.global.v2.f32 [%rd1], {%f1, %f2};",
        "st.global.v2.f32 [%rd1], {%f2, %f1};",
        "ld.global.v2.f32 {%f2, %f3}, [%rd1];",
    )
    text = [one.text for one in found.code[:-1] if isinstance(one, Code)]
    assert text[:2] == ["LDG.E.64.SYS %f1, [%rd1]", "STG.E.64.SYS [%rd1], %f1"]
    assert text[2:5] == ["MOV %temporary1, %f2", "MOV %temporary2, %f1", "STG.E.64.SYS [%rd1], %temporary1"]
    assert text[5:] == ["LDG.E.64.SYS %temporary3, [%rd1]", "MOV %f2, %temporary3", "MOV %f3, %temporary4"]
    assert found.groups["f2"] == ("f1", "f2") and found.groups["temporary4"] == ("temporary3", "temporary4")


def test_a_branch_to_the_end_is_an_exit() -> None:
    found = lowered("@%p1 bra END;", "@!%p2 bra NEXT;", "NEXT:", "bra.uni END;", "END:").code
    assert [one if isinstance(one, str) else (one.text, one.uses, one.target) for one in found] == [
        ("@%p1 EXIT", ("p1",), ""),
        ("@!%p2 BRA `(NEXT)", ("p2",), "NEXT"),
        "NEXT",
        ("EXIT", (), ""),
        "END",
        ("EXIT", (), ""),
    ]


@pytest.mark.parametrize(
    ("ptx", "problem"),
    [
        ("tex.2d.v4.f32.f32 %f1, %f2;", "PTX, line 4: tex.2d.v4.f32.f32 is not lowered"),
        ("ld.const.u32 %r1, [%rd1];", "PTX, line 4: ld.const.u32 is not lowered"),
        ("ld.global.v2.u8 {%rs0, %rs1}, [%rd1];", "PTX, line 4: ld.global.v2.u8 is not lowered"),
        ("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", "PTX, line 4: atom.global.cas.b32 is not lowered"),
        ("bfi.b32 %r1, %r2, %r3, %r4, 4;", "PTX, line 4: bfi.b32 at a place that varies is not lowered"),
        ("@%p1 add.s32 %r1, %r2, 1;", "PTX, line 4: add.s32: only branches may have a guard"),
        ("add.s32 %r1, %r2, %nothing;", "operand must be a register, a literal or shared memory, not '%nothing'"),
        ("ld.param.u32 %r1, [other];", "only words and pairs of the kernel's own parameters are loaded"),
        ("mov.b64 {%r1, %r2, %r3, %r4}, %rd1;", "PTX, line 4: mov.b64 of a vector is not lowered"),
        ("add.s32 %r1;", "PTX, line 4: add.s32: operands are not of the expected kinds"),
    ],
)
def test_what_has_no_template_is_refused_with_its_line(ptx: str, problem: str) -> None:
    with pytest.raises(PtxError) as found:
        lowered(ptx)
    assert problem in str(found.value) and "\n" not in str(found.value)
