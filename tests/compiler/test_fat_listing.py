"""Listings of fat binaries, which have code for several GPUs and PTX."""

from __future__ import annotations

import pytest

from warpfile.compiler import ListingError, parse
from warpfile.compiler.architectures import gpu_name


def member(gpu: int, *instructions: str, kind: str = "elf") -> str:
    """What cuobjdump shows of one member."""
    code = "\n".join(f"        /*{16 * at:04x}*/ {text} ;" for at, text in enumerate((*instructions, "EXIT")))
    head = f"\nFatbin {kind} code:\n================\narch = sm_{gpu}\nhost = linux\n"
    return head + (f"\n\tcode for sm_{gpu}\n\t\tFunction : k\n{code}\n" if kind == "elf" else "")


BOTH = member(80, "NOP") + member(90, kind="ptx") + member(90, "NOP", "NOP")


def test_the_code_of_one_gpu_is_read() -> None:
    for gpu, count in ((80, 2), (90, 3)):
        listing = parse(BOTH, "fat", architecture=gpu)
        assert (listing.architecture, len(listing.functions["k"].instructions)) == (gpu, count)


def test_lines_keep_their_numbers() -> None:
    instruction = parse(BOTH, "fat", architecture=90).functions["k"].instructions[0]
    assert "/*0000*/ NOP" in BOTH.splitlines()[instruction.line - 1]


def test_a_member_alone_needs_no_choice() -> None:
    listing = parse(member(90, kind="ptx") + member(90, "NOP"), "fat")
    assert listing.architecture == 90


@pytest.mark.parametrize(
    ("text", "gpu", "said"),
    [
        (BOTH, None, "must be of code for one GPU, not of sm_80, sm_90; give --arch"),
        (BOTH, 86, "--arch must be one of sm_80, sm_90, not sm_86"),
        (member(80).partition("host")[2], 90, "has code for sm_80, not for sm_90"),
        ("\t.target\tsm_61\n" + member(80).partition("host")[2], None, "sm_70 to sm_129, not for sm_61 (Pascal)"),
    ],
)
def test_what_is_refused_says_what_there_is(text: str, gpu: int | None, said: str) -> None:
    with pytest.raises(ListingError) as error:
        parse(text, "fat", architecture=gpu)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("gpu", "name"),
    [(20, "sm_20 (Fermi)"), (37, "sm_37 (Kepler)"), (52, "sm_52 (Maxwell)"), (61, "sm_61 (Pascal)"), (130, "sm_130")],
)
def test_older_gpus_have_the_name_of_their_generation(gpu: int, name: str) -> None:
    assert gpu_name(gpu) == name
