"""PTX text to one kernel."""

from __future__ import annotations

import pytest

from warpfile.compiler.ptx.errors import PtxError
from warpfile.compiler.ptx.parse import Operation, parse_ptx, split

MODULE = """
.version 9.0
.extern .shared .align 16 .b8 rest[];
.visible .entry one(
	.param .u32 one_param_0,
	.param .u64 one_param_1,
	.param .align 16 .b8 one_param_2[12],
	.param .u32 one_param_3
)
.maxntid 64, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>, t;
	.shared .align 4 .b8 first[10];
	.shared .align 8 .b8 second[8];
	mov.u32 	%r1, %tid.x; // a remark
$L__BB0_1:
	.pragma "nounroll";
	{ add.s32 	t, %r1, -1;
	}
	ld.shared.v2.u32 	{%r1, %r2}, [second+4];
	@!%p1 bra 	$L__BB0_1;
	ret;
}
"""


def test_declarations_have_offsets_as_the_isa_aligns_them() -> None:
    kernel = parse_ptx(MODULE)
    assert kernel.parameters == {"one_param_0": 0, "one_param_1": 8, "one_param_2": 16, "one_param_3": 28}
    assert kernel.shared == {"first": 0, "second": 16, "rest": 32} and kernel.shared_bytes == 32
    assert kernel.types == {"%p0": "pred", "%p1": "pred", "%r0": "b32", "%r1": "b32", "%r2": "b32", "t": "b32"}


def test_a_body_is_its_instructions_and_labels() -> None:
    kernel = parse_ptx(MODULE)
    move, label, add, load, branch, end = kernel.body
    assert (kernel.name, label) == ("one", "$L__BB0_1")
    assert move == Operation(16, ("mov", "u32"), ("%r1", "%tid.x"))
    assert isinstance(add, Operation) and add.operands == ("t", "%r1", "-1") and add.line == 19
    assert isinstance(load, Operation) and load.operands == ("{%r1, %r2}", "[second+4]")
    assert isinstance(branch, Operation) and (branch.guard, branch.operands) == ("!%p1", ("$L__BB0_1",))
    assert isinstance(end, Operation) and end.opcode == ("ret",)


def test_operands_are_cut_outside_of_brackets() -> None:
    assert split("{%r1, %r2}, [a+4], (b, c)") == ["{%r1, %r2}", "[a+4]", "(b, c)"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (".func f()\n{\n}\n" + MODULE, "line 1: must be a kernel without a function that is called"),
        (".visible .global .align 4 .b8 x[4];\n" + MODULE, "line 1: must be a kernel without global variables"),
        (MODULE.replace(".entry", ".nothing"), "must hold one kernel, not 0"),
        (MODULE + MODULE, "must hold one kernel, not 2"),
        (MODULE.replace(".param .u64", ".param"), "parameter must be '.param .TYPE NAME', not '.param one_param_1'"),
        (MODULE.replace("ret;", "ret"), "statement must end with ';'"),
        (MODULE.replace("ret;", "1ret;"), "must be an instruction, not '1ret'"),
    ],
)
def test_what_is_no_kernel_without_calls_is_refused(text: str, problem: str) -> None:
    with pytest.raises(PtxError) as found:
        parse_ptx(text)
    assert problem in str(found.value)
