"""Suspension points against points found by hand, and against their definition on generated control flow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.generated import graph, next_instructions
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.passes.rfc.suspend import suspend_before
from warpfile.compiler.program import static_instruction
from warpfile.spec.trace import Kind, StaticInstruction


def found(code: str) -> list[int]:
    """Numbers of the instructions before which a warp suspends."""
    return [offset // 16 for offset in sorted(suspend_before(graph(code).function))]


LOAD = "LDG.SYS R2, [R8]"
USE = "IADD3 R3, R2, 0x1, RZ"


def test_a_warp_suspends_before_it_reads_a_loaded_register() -> None:
    assert found(f"{LOAD}\nNOP\n{USE}") == [2]


def test_a_warp_suspends_before_it_overwrites_a_loaded_register() -> None:
    assert found(f"{LOAD}\nMOV R2, 0x1\n{USE}") == [1]


def test_only_the_first_touch_suspends() -> None:
    assert found(f"{LOAD}\n{USE}\n{USE}\nMOV R2, 0x1") == [1]


def test_results_of_different_loads_are_waited_for_one_by_one() -> None:
    assert found("LDG.SYS R2, [R8]\nLDG.SYS R4, [R8]\nIADD3 R3, R2, 0x1, RZ\nIADD3 R5, R4, R2, RZ") == [2, 3]
    assert found("LDG.SYS R2, [R8]\nLDG.SYS R4, [R8]\nIADD3 R3, R2, R4, RZ\nIADD3 R5, R4, R2, RZ") == [2]


def test_a_wide_result_arrives_as_a_whole() -> None:
    assert found("LDG.E.128.SYS R4, [R8]\nIADD3 R3, R6, 0x1, RZ\nIADD3 R3, R4, R7, RZ\nMOV R5, RZ") == [1]


def test_one_register_of_a_wide_operand_is_enough() -> None:
    assert found("LDG.SYS R5, [R8]\nDADD R10, R4, R12") == [1]
    assert found("LDG.SYS R6, [R8]\nDADD R10, R4, R12") == []


def test_an_address_is_a_touch() -> None:
    assert found(f"{LOAD}\nSTS [R2], R9") == [1]


@pytest.mark.parametrize(
    "load",
    [
        "LD.SYS R2, [R8]",
        "LDL R2, [R1]",
        "LDG.E.CONSTANT.SYS R2, [R8]",
        "ATOMG.E.ADD.STRONG.GPU PT, R2, [R8], R6",
        "ATOM.E.ADD.STRONG.GPU PT, R2, [R8], R6",
        "TEX.SCR.B.LL RZ, R2, R8, R10, 2D, 0x1",
        "TLD.LZ RZ, R2, R8, 0x0, 1D, 0x1",
        "SULD.D.BA.1D.STRONG.SYS R2, [R8], R10",
    ],
)
def test_results_from_global_and_local_memory_and_textures_take_long(load: str) -> None:
    assert found(f"{load}\n{USE}") == [1]


@pytest.mark.parametrize(
    "other",
    [
        "LDS.U R2, [R8]",
        "LDSM.16.M88 R2, [R8]",
        "ATOMS.ADD R2, [R8], R6",
        "LDC R2, c[0x3][R8]",
        "MUFU.RCP R2, R8",
        "SHFL.BFLY PT, R2, R8, 0x1, 0x1f",
        "MOV R2, c[0x0][0x160]",
        "STG.SYS [R8], R2",
        "RED.E.ADD.STRONG.GPU [R8], R2",
        "LDG.SYS RZ, [R2]",
    ],
)
def test_other_results_do_not(other: str) -> None:
    assert found(f"{other}\n{USE}") == []


def test_a_predicate_can_be_the_result() -> None:
    assert found("ATOMG.E.CAS.STRONG.GPU P0, RZ, [R8], R4, R5\n@P1 NOP\n@P0 MOV R9, 0x1\n@P0 NOP") == [2]


def test_a_guarded_load_may_be_pending() -> None:
    assert found(f"@P0 {LOAD}\n{USE}") == [1]
    assert found(f"{LOAD}\n@P0 {LOAD}\n{USE}") == [1, 2]


def test_a_guarded_touch_waits_whatever_its_guard_says() -> None:
    assert found(f"{LOAD}\n@P0 {USE}\n{USE}") == [1]


def test_a_load_through_its_own_result_suspends_first() -> None:
    assert found("LDG.SYS R2, [R2]\nLDG.SYS R2, [R2]\nIADD3 R3, R2, RZ, RZ") == [1, 2]


def test_a_load_without_a_reader_is_touched_by_itself_in_the_next_turn() -> None:
    assert found("top:\nLDG.SYS R2, [R8]\n@P0 BRA `(top)\nNOP") == [0]


def test_a_loop_carried_result_suspends_the_next_turn() -> None:
    code = f"""MOV R2, RZ
        top:
        {USE}
        IADD3 R4, R2, R3, RZ
        {LOAD}
        NOP
        @P0 BRA `(top)
        NOP"""
    assert found(code) == [1]


def test_any_path_with_a_pending_result_is_enough() -> None:
    code = f"""{LOAD}
        @P0 BRA `(other)
        {USE}
        BRA `(end)
        other:
        NOP
        end:
        IADD3 R4, R2, 0x1, RZ"""
    assert found(code) == [2, 5]


def test_a_result_loaded_on_one_side_is_pending_behind_the_join() -> None:
    assert found(f"@P0 BRA `(end)\n{LOAD}\nend:\n{USE}") == [2]


CALL = """LDG.SYS R2, [R8]
    CALL.REL.NOINC `(sub)
    IADD3 R4, R2, R5, RZ
    EXIT
    sub:
    {inside}
    LDG.SYS R5, [R9]
    RET.REL.NODEC R20 `(k)"""


@pytest.mark.parametrize(("inside", "points"), [("NOP", [2]), ("IADD3 R3, R2, 0x1, RZ", [2, 4])])
def test_results_are_pending_across_calls_and_returns(inside: str, points: list[int]) -> None:
    assert found(CALL.format(inside=inside)) == points


def test_a_result_that_was_used_in_the_callee_is_not_pending_behind_the_call() -> None:
    code = CALL.format(inside="IADD3 R3, R2, 0x1, RZ").replace("LDG.SYS R5, [R9]", "NOP")
    assert found(code) == [4]


def test_a_fence_suspends_and_behind_it_nothing_is_pending() -> None:
    assert found(f"{LOAD}\nMEMBAR.SC.GPU\n{USE}") == [1]
    assert found("MEMBAR.SC.GPU") == [0]


def test_a_sleep_suspends_and_changes_nothing() -> None:
    assert found(f"{LOAD}\nNANOSLEEP 0x40\n{USE}") == [1, 2]


def test_a_barrier_never_suspends_before_it_arrives() -> None:
    assert found(f"{LOAD}\nBAR.SYNC 0x0\n{USE}") == [2]
    assert found("LDG.SYS R2, [R8]\nBAR.SYNC R2, R3\nIADD3 R3, R2, 0x1, RZ") == []


def test_an_opaque_opcode_may_touch_all_it_names() -> None:
    assert found(f"{LOAD}\nFUTURE R0, R9\n{USE}") == [1]
    assert found(f"{LOAD}\nFUTURE R4, R9\n{USE}") == [2]


@st.composite
def flows(draw: st.DrawFn) -> str:
    """Random SASS with loads, fences and barriers: a label before every instruction, branches to anywhere."""

    def register(size: int = 1) -> str:
        return f"R{draw(st.integers(2 // size + (size > 2), 8 // size)) * size}"

    count, lines = draw(st.integers(2, 14)), list[str]()
    for position in range(count):
        guard = draw(st.sampled_from(["", "", "@P0 ", "@!P1 "]))
        texts = (
            lambda: f"IADD3 {register()}, {register()}, 0x1, RZ",
            lambda: f"IADD3 {register()}, {register()}, {register()}, {register()}",
            lambda: f"MOV {register()}, RZ",
            lambda: f"DADD {register(2)}, {register(2)}, {register(2)}",
            lambda: f"LDG.SYS {register()}, [{register()}]",
            lambda: f"LDG.E.128.SYS {register(4)}, [{register(2)}]",
            lambda: f"LDS.64 {register(2)}, [{register()}]",
            lambda: f"STG.SYS [{register()}], {register()}",
            lambda: f"ATOMG.E.CAS.STRONG.GPU P0, {register()}, [{register(2)}], {register()}, {register()}",
            lambda: draw(st.sampled_from(["MEMBAR.SC.GPU", "NANOSLEEP 0x1", "BAR.SYNC 0x0", "EXIT"])),
            lambda: f"BRA `(L{draw(st.integers(0, count - 1))})",
            lambda: f"BRA `(L{draw(st.integers(0, count - 1))})",
        )
        lines += [f"L{position}:", guard + draw(st.sampled_from(texts))()]
    return "\n".join(lines)


def touches(static: StaticInstruction, load: StaticInstruction) -> bool:
    registers = {*static.sources, *static.dests} & set(load.dests)
    return bool(registers) or bool((static.token_reads | static.token_writes) & load.token_writes)


def points_by_walking(cfg: Cfg, broken: str = "") -> set[int]:
    """Definition: some path leads there from a load, and its result is touched nowhere before.

    ``broken`` names a rule that is left out.
    """
    program = [static_instruction(instruction) for instruction in cfg.function.instructions]
    follow = next_instructions(cfg)
    points = {static.offset for static in program if static.opcode.startswith(("MEMBAR", "NANOSLEEP"))}
    for start, load in enumerate(program):
        if not (load.opcode.startswith(("LDG", "ATOMG"))):
            continue
        work, seen = list(follow[start]), set[int]()
        while work:
            at = work.pop()
            if at in seen:
                continue
            seen.add(at)
            if program[at].opcode.startswith("MEMBAR") and broken != "fence":
                continue
            if touches(program[at], load):
                points |= {program[at].offset} if program[at].kind is not Kind.BARRIER else set()
                if broken != "first":
                    continue
            work += follow[at] if broken != "loop" else [place for place in follow[at] if place > at]
    return points


@settings(max_examples=150, deadline=None)
@given(flows())
def test_points_are_what_walking_the_paths_finds(code: str) -> None:
    cfg = graph(code)
    assert suspend_before(cfg.function) == points_by_walking(cfg)


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ("fence", f"{LOAD}\nMEMBAR.SC.GPU\n{USE}"),
        ("first", f"{LOAD}\n{USE}\n{USE}"),
        ("loop", f"top:\n{USE}\n{LOAD}\nNOP\n@P0 BRA `(top)"),
    ],
)
def test_walking_the_paths_notices_a_missing_rule(broken: str, code: str) -> None:
    cfg = graph(code)
    assert points_by_walking(cfg, broken) != points_by_walking(cfg) == suspend_before(cfg.function)
