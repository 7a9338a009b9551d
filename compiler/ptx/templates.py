"""What each PTX opcode becomes: instructions in SASS notation, one where the emulator has one.

``=n`` is operand n as a destination, ``$n`` as a source, ``:0`` and ``:1`` its words; a letter is a register of the
sequence alone, a capital one a pair. 64-bit operations are the forms for pairs that sm_120 has, which the emulator
executes for every GPU, because GPGPU-Sim executes them as one instruction too. Square roots and reciprocals are single
operations of the special-function unit, correctly rounded (``emulator.special``).
"""

from __future__ import annotations

_SINGLE = """
mov.u32 mov.b32 mov.s32 mov.f32 mov.b16 mov.u16 cvt.u16.u32 > MOV =0, $1
mov.u64 mov.b64 mov.f64 mov.s64 cvta.to.global.u64 > MOV.64 =0, $1
cvt.u32.u64 cvt.s32.s64 > MOV =0, $1:0
cvt.s64.s32 > IMAD.WIDE =0, $1, 0x1, RZ
cvt.u64.u32 > IMAD.WIDE.U32 =0, $1, 0x1, RZ
add.s32 add.u32 > IADD3 =0, $1, $2, RZ
sub.s32 sub.u32 > IADD3 =0, $1, -$2, RZ
neg.s32 > IADD3 =0, -$1, RZ, RZ
abs.s32 > IABS =0, $1
mul.lo.s32 mul.lo.u32 > IMAD =0, $1, $2, RZ
mad.lo.s32 mad.lo.u32 > IMAD =0, $1, $2, $3
mul.wide.s32 > IMAD.WIDE =0, $1, $2, RZ
mul.wide.u32 > IMAD.WIDE.U32 =0, $1, $2, RZ
mad.wide.s32 > IMAD.WIDE =0, $1, $2, $3
mad.wide.u32 > IMAD.WIDE.U32 =0, $1, $2, $3
add.s64 add.u64 > IADD.64 =0, $1, $2
sub.s64 sub.u64 > IADD.64 =0, $1, -$2
neg.s64 > IADD.64 =0, RZ, -$1
min.s32 > IMNMX =0, $1, $2, PT
max.s32 > IMNMX =0, $1, $2, !PT
min.u32 > IMNMX.U32 =0, $1, $2, PT
max.u32 > IMNMX.U32 =0, $1, $2, !PT
and.b32 > LOP3.LUT =0, $1, $2, RZ, 0xc0, !PT
or.b32 > LOP3.LUT =0, $1, $2, RZ, 0xfc, !PT
xor.b32 > LOP3.LUT =0, $1, $2, RZ, 0x3c, !PT
not.b32 > LOP3.LUT =0, $1, RZ, RZ, 0x0f, !PT
and.pred > PLOP3.LUT =0, PT, $1, $2, PT, 0xc0, 0x0
or.pred > PLOP3.LUT =0, PT, $1, $2, PT, 0xfc, 0x0
xor.pred > PLOP3.LUT =0, PT, $1, $2, PT, 0x3c, 0x0
not.pred > PLOP3.LUT =0, PT, $1, PT, PT, 0x0f, 0x0
mov.pred > PLOP3.LUT =0, PT, $1, PT, PT, 0xf0, 0x0
shl.b32 > SHF.L.U32 =0, $1, $2, RZ
shr.u32 shr.b32 > SHF.R.U32.HI =0, RZ, $2, $1
shr.s32 > SHF.R.S32.HI =0, RZ, $2, $1
shf.l.wrap.b32 > SHF.L.W.U32.HI =0, $1, $3, $2
shf.l.clamp.b32 > SHF.L.U32.HI =0, $1, $3, $2
shf.r.wrap.b32 > SHF.R.W.U32 =0, $1, $3, $2
shf.r.clamp.b32 > SHF.R.U32 =0, $1, $3, $2
prmt.b32 > PRMT =0, $1, $3, $2
cvt.u32.u16 > PRMT =0, $1, 0x4410, RZ
cvt.s32.s16 > PRMT =0, $1, 0x9910, RZ
cvt.s32.s8 > PRMT =0, $1, 0x8880, RZ
popc.b32 > POPC =0, $1
brev.b32 > BREV =0, $1
bfind.s32 > FLO =0, $1
bfind.shiftamt.u32 > FLO.U32.SH =0, $1
selp.b32 selp.u32 selp.s32 selp.b16 selp.u16 selp.s16 > SEL =0, $1, $2, $3
selp.b64 selp.f64 > SEL.64 =0, $1, $2, $3
selp.f32 > FSEL =0, $1, $2, $3
add.f32 add.rn.f32 > FADD =0, $1, $2
sub.f32 sub.rn.f32 > FADD =0, $1, -$2
neg.f32 > FADD =0, -$1, -RZ
abs.f32 > FADD =0, |$1|, -RZ
cvt.sat.f32.f32 > FADD.SAT =0, $1, -RZ
mul.f32 mul.rn.f32 > FMUL =0, $1, $2
fma.rn.f32 > FFMA =0, $1, $2, $3
min.f32 > FMNMX =0, $1, $2, PT
max.f32 > FMNMX =0, $1, $2, !PT
rcp.rn.f32 rcp.approx.f32 rcp.approx.ftz.f32 > MUFU.RCP =0, $1
sqrt.rn.f32 sqrt.approx.f32 > MUFU.SQRT =0, $1
rsqrt.approx.f32 > MUFU.RSQ =0, $1
ex2.approx.f32 ex2.approx.ftz.f32 > MUFU.EX2 =0, $1
lg2.approx.f32 > MUFU.LG2 =0, $1
add.f64 add.rn.f64 > DADD =0, $1, $2
sub.f64 > DADD =0, $1, -$2
neg.f64 > DADD =0, -$1, -RZ
abs.f64 > DADD =0, |$1|, -RZ
mul.f64 mul.rn.f64 > DMUL =0, $1, $2
fma.rn.f64 > DFMA =0, $1, $2, $3
cvt.rn.f32.s32 > I2F =0, $1
cvt.rn.f32.u32 > I2F.U32 =0, $1
cvt.rn.f64.s32 > I2F.F64 =0, $1
cvt.rzi.s32.f32 > F2I.TRUNC.NTZ =0, $1
cvt.rzi.u32.f32 > F2I.U32.TRUNC.NTZ =0, $1
cvt.rzi.s32.f64 > F2I.F64.TRUNC =0, $1
cvt.f64.f32 > F2F.F64.F32 =0, $1
cvt.rn.f32.f64 > F2F.F32.F64 =0, $1
cvt.rmi.f64.f64 > FRND.F64.FLOOR =0, $1
cvt.rzi.f64.f64 > FRND.F64.TRUNC =0, $1
add.f16x2 add.rn.f16x2 > HADD2 =0, $1, $2
sub.f16x2 sub.rn.f16x2 > HADD2 =0, $1, -$2
mul.f16x2 mul.rn.f16x2 > HMUL2 =0, $1, $2
fma.rn.f16x2 > HFMA2 =0, $1, $2, $3
add.sat.f16x2 > HADD2.SAT =0, $1, $2
fma.rn.sat.f16x2 > HFMA2.SAT =0, $1, $2, $3
neg.f16 > HADD2 =0, -$1, -RZ
cvt.f32.f16 > HADD2.F32 =0, -RZ, $1.H0_H0
cvt.rn.f16.f32 > F2F.F16.F32 =0, $1
bar.sync barrier.sync > BAR.SYNC $0
vote.sync.ballot.b32 > VOTE.ANY =0, PT, $1
vote.sync.any.pred > VOTE.ANY =0, $1
vote.sync.all.pred > VOTE.ALL =0, $1
match.any.sync.b32 > MATCH.ANY =0, $1
mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 > HMMA.1688.F32 =0, $1, $2, $3
ldmatrix.sync.aligned.m8n8.x4.shared.b16 > LDSM.16.M88.4 =0, $1
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 > LDSM.16.MT88.2 =0, $1
"""
_SEVERAL = """
cvt.u64.u16 > LOP3.LUT =0:0, $1, 0xffff, RZ, 0xc0, !PT ; MOV =0:1, RZ
mul.wide.s16 > PRMT =a, $1, 0x9910, RZ ; PRMT =b, $2, 0x9910, RZ ; IMAD =0, $a, $b, RZ
mul.wide.u16 > PRMT =a, $1, 0x4410, RZ ; PRMT =b, $2, 0x4410, RZ ; IMAD =0, $a, $b, RZ
setp.gt.s16 > PRMT =a, $1, 0x9910, RZ ; PRMT =b, $2, 0x9910, RZ ; ISETP.GT.AND =0, PT, $a, $b, PT
clz.b32 > FLO.U32 =a, $1 ; IADD3 =0, -$a, 0x1f, RZ
and.b64 > LOP3.LUT =0:0, $1:0, $2:0, RZ, 0xc0, !PT ; LOP3.LUT =0:1, $1:1, $2:1, RZ, 0xc0, !PT
or.b64 > LOP3.LUT =0:0, $1:0, $2:0, RZ, 0xfc, !PT ; LOP3.LUT =0:1, $1:1, $2:1, RZ, 0xfc, !PT
xor.b64 > LOP3.LUT =0:0, $1:0, $2:0, RZ, 0x3c, !PT ; LOP3.LUT =0:1, $1:1, $2:1, RZ, 0x3c, !PT
shl.b64 > SHF.L.U64.HI =0:1, $1:0, $2, $1:1 ; SHF.L.U32 =0:0, $1:0, $2, RZ
shr.u64 > SHF.R.U64 =0:0, $1:0, $2, $1:1 ; SHF.R.U32.HI =0:1, RZ, $2, $1:1
shr.s64 > SHF.R.S64 =0:0, $1:0, $2, $1:1 ; SHF.R.S32.HI =0:1, RZ, $2, $1:1
div.approx.f32 div.full.f32 > MUFU.RCP =a, $2 ; FMUL =0, $1, $a
div.rn.f32 > MUFU.RCP =a, $2 ; FMUL =b, $1, $a ; FFMA =c, -$2, $b, $1 ; FFMA =0, $c, $a, $b
sin.approx.f32 > FMUL.RZ =a, $1, 0x3e22f983 ; MUFU.SIN =0, $a
cos.approx.f32 > FMUL.RZ =a, $1, 0x3e22f983 ; MUFU.COS =0, $a
"""
_PRODUCT = (
    *("IMAD.WIDE.U32 =A, $1:0, $2:0, RZ", "IMAD =b, $1:0, $2:1, $A:1", "IMAD =c, $1:1, $2:0, $b"),
    *("MOV =0:0, $A:0", "MOV =0:1, $c"),
)
_ONE = "0x3ff0000000000000"
#: A quotient of words, in double precision: 1 / b by two steps of Newton from the upper word that the special-function
#: unit gives. The product is made a little larger in magnitude (by 2**-45 of it), so that no exact quotient is rounded
#: to the integer below it.
_QUOTIENT = (
    *("I2F.F64{sign} =A, $1", "I2F.F64{sign} =B, $2", "MOV =C:0, RZ", "MUFU.RCP64H =C:1, $B:1"),
    *(f"DFMA =D, -$B, $C, {_ONE}", "DFMA =E, $C, $D, $C", f"DFMA =F, -$B, $E, {_ONE}", "DFMA =G, $E, $F, $E"),
    *("DMUL =H, $A, $G", "DFMA =I, $H, 0x3d20000000000000, $H", "F2I{sign}.F64.TRUNC ="),
)
_COMPARED = {
    "s32": ("ISETP", ""),
    "u32": ("ISETP", ".U32"),
    "s64": ("ISETP", ".S64"),
    "u64": ("ISETP", ".U64"),
    "f32": ("FSETP", ""),
    "f64": ("DSETP", ""),
}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_UNORDERED = (*(f"{one}u" for one in _COMPARISONS), "num", "nan")


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, tuple[str, ...]] = {}
    for line in (_SINGLE + _SEVERAL).strip().splitlines():
        names, _, sequence = line.partition(" > ")
        table.update(dict.fromkeys(names.split(), tuple(sequence.split(" ; "))))
    for kind, (opcode, mark) in _COMPARED.items():
        compared = _COMPARISONS + _UNORDERED if kind[0] == "f" else _COMPARISONS
        for name in compared:
            table[f"setp.{name}.{kind}"] = (f"{opcode}.{name.upper()}{mark}.AND =0, PT, $1, $2, PT",)
    for kind, same in (("b32", "s32"), ("b64", "s64")):
        table |= {f"setp.{name}.{kind}": table[f"setp.{name}.{same}"] for name in ("eq", "ne")}
    table["mul.lo.s64"] = table["mul.lo.u64"] = _PRODUCT
    for kind, sign in (("s32", ""), ("u32", ".U32")):
        *steps, last = (one.replace("{sign}", sign) for one in _QUOTIENT)
        table[f"div.{kind}"] = (*steps, f"{last}0, $I")
        table[f"rem.{kind}"] = (*steps, f"{last}q, $I", "IMAD =0, -$q, $2, $1")
    return table


TEMPLATES = _table()
#: Of ``mov.u32``: special registers, and words of the launch bank.
SPECIAL = {
    **{f"%{what}.{axis}": f"SR_{what.upper()}.{axis.upper()}" for what in ("tid", "ctaid") for axis in "xyz"},
    "%laneid": "SR_LANEID",
    "%warpid": "SR_WARPID",
    **{f"%lanemask_{what}": f"SR_{what.upper()}MASK" for what in ("eq", "lt", "le", "gt", "ge")},
}
LAUNCH = {f"%ntid.{axis}": 4 * at for at, axis in enumerate("xyz")}
LAUNCH |= {f"%nctaid.{axis}": 12 + 4 * at for at, axis in enumerate("xyz")}
PARAMETERS = 0x160  #: where they start in constant bank 0 of sm_75
