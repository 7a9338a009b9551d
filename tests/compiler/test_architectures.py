"""Code for each GPU that is executed, held against nvdisasm's graphs and life ranges, and run against NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from tests.compiler import judge
from tests.compiler.architectures import SPARED, listing, placed_at
from tests.compiler.corpus.build import ARCHIVE, FOLDER, LEVELS, machines, member
from tests.compiler.turns import in_turn
from warpfile.compiler import Listing, load_listing
from warpfile.compiler.architectures import COMPARED, PRESETS, TARGET, generation, is_executed, preset, remark
from warpfile.compiler.architectures import remark_on_codes as on_codes
from warpfile.compiler.model import Instruction, Register
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.modern.latency_check import uncovered
from warpfile.compiler.passes.modern.read_positions import placed, positions
from warpfile.compiler.program import static_instruction
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.kernels import build
from warpfile.kernels.packed import BUNDLED, bundled_cubin, unpacked
from warpfile.kernels.packed import member as bundled_member
from warpfile.kernels.reference import KERNELS, names
from warpfile.output.difference import Difference
from warpfile.output.display import silent
from warpfile.results.run import golden_run
from warpfile.schemes import find
from warpfile.spec.presets import PRESETS as NAMED

OTHERS = [architecture for architecture in COMPARED if architecture != TARGET]
#: What is judged and run in every session: shared memory, reductions, halves, code with subroutines.
FEW = ("calls", "half2", "warp_reduce")
CASES = [
    pytest.param(one, name, id=f"sm_{one}-{name}", marks=() if name in FEW else in_turn(number))
    for number, (name, one) in enumerate(product(names(), OTHERS))
]
#: Of the corpus, for GPUs other than sm_90: what has differed from one to the next.
CHANGED = ("async_copy", "atomics", "integers64", "lanes")
CORPUS = {
    member(source, machine, level): (source.stem, level)
    for source in sorted(FOLDER.glob("*.cu"))
    for machine in machines(source)
    for level in LEVELS
}
#: Of the runs by control codes, one for each thing in which GPUs differ: fixed latencies of tensor cores and of double
#: precision, a low half that is read early, a coupled reduction.
DIFFERENT = ((86, "tensor"), (90, "divide_double"), (90, "half2"), (100, "warp_reduce"), (120, "random_walk"))
RUNS = [
    pytest.param(one, name, id=f"sm_{one}-{name}", marks=() if (one, name) in DIFFERENT else pytest.mark.regress)
    for one in OTHERS
    for name in names()
]
PARTS = [
    pytest.param(name, marks=in_turn(number))
    if level != "O3" or not (name.startswith("sm_90/") or source in CHANGED)
    else name
    for number, (name, (source, level)) in enumerate(CORPUS.items())
]
#: Opcodes whose operands are not known, by what they are for.
UNKNOWN = {
    "async_fill": {"LDGSTS.E.64.ZFILL with other operands"},
    "barrier_objects": {"SYNCS"},
    "bulk_copy": {"FENCE", "SYNCS", "UBLKCP", "UTMACMDFLUSH"},
    "cluster": {"UCGABAR_ARV", "UCGABAR_WAIT"},
    "group_products": {"HGMMA", "WARPGROUP"},
    "mma_e4m3": {"QMMA"},
    "mma_f8f6f4": {"QMMA"},
    "register_moves": {"USETMAXREG"},
    "tensor_copy": {"FENCE", "SYNCS", "UTMALDG"},
    "tensor_memory": {"LDTM", "UTCATOMSWS"},
    "wide_access": {"LDG.E.ENL2.256 with other operands", "STG.E.ENL2.256 with other operands"},
}
needs_judge = pytest.mark.needs("nvdisasm")


@needs_judge
@pytest.mark.parametrize(("architecture", "name"), CASES)
def test_bundled_kernels_are_read_and_executed(tmp_path: Path, architecture: int, name: str) -> None:
    code = bundled_cubin(name, architecture)
    assert code is not None
    is_read_and_executed(tmp_path, code, name, architecture, SPARED.get(bundled_member(name, architecture), set()))


@pytest.mark.regress
@pytest.mark.needs("nvcc", "nvdisasm")
@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("architecture", COMPARED)
def test_bundled_kernels_of_other_levels_are_too(tmp_path: Path, architecture: int, name: str, level: str) -> None:
    code = build.compiled(KERNELS / name / "kernel.cu", architecture, "-Xptxas", f"-{level}")
    is_read_and_executed(tmp_path, code, name, architecture, SPARED.get(f"sm_{architecture}/{name}-{level}", set()))


def is_read_and_executed(place: Path, code: bytes, name: str, architecture: int, spared: set[int]) -> None:
    """Graph and life ranges are nvdisasm's, and the small launch of a bundled kernel is NumPy's."""
    cubin = placed_at(place, code)
    listing = load_listing(cubin.with_suffix(".sass"))
    assert (listing.architecture, listing.warnings) == (architecture, ())
    judge.compare_graphs(cubin, listing)
    judge.compare_life_ranges(cubin, listing, frozenset(spared))
    for instruction in instructions(listing):
        check_codes(instruction)
    result = execute(load_kernel(KERNELS / name, "launch", listing))
    assert result.expectations and all(one.ok for one in result.expectations), result.expectations


@needs_judge
@pytest.mark.parametrize("name", PARTS)
def test_the_corpus_is_read_as_nvdisasm_reads_it(tmp_path: Path, name: str) -> None:
    source, _ = CORPUS[name]
    cubin = placed_at(tmp_path, unpacked(ARCHIVE)[name])
    listing = load_listing(cubin.with_suffix(".sass"))
    judge.compare_graphs(cubin, listing)
    judge.compare_life_ranges(cubin, listing, frozenset(SPARED.get(name, ())))
    unknown = {one.opcode for one in instructions(listing) if not is_known(one.opcode)}
    assert unknown <= UNKNOWN.get(source, set())
    where = f" of code for {name.partition('/')[0]})"
    assert len(listing.warnings) >= len(unknown) and all(one.endswith(where) for one in listing.warnings)


def test_every_opcode_that_is_said_to_be_unknown_is_met() -> None:
    assert UNKNOWN.keys() <= {source for source, _ in CORPUS.values()}
    assert not any(map(is_known, set().union(*UNKNOWN.values())))


def test_the_archives_are_those_of_the_sources() -> None:
    assert unpacked(ARCHIVE).keys() == CORPUS.keys()
    assert tuple(OTHERS) == build.OTHERS
    assert unpacked(BUNDLED).keys() == {bundled_member(name, one) for name in names() for one in OTHERS}


def instructions(listing: Listing) -> Iterator[Instruction]:
    for function in listing.functions.values():
        yield from function.instructions


def check_codes(instruction: Instruction) -> None:
    """Marks of reuse are where the encoding has them; what waits for nothing has no dependence counter."""
    code, place = instruction.control, placed(static_instruction(instruction), instruction)
    assert code is not None
    assert place.variable or (code.write_barrier is None and code.read_barrier is None), instruction.text
    if code.reuse:
        marks = {one.number for one in instruction.operands if isinstance(one, Register) and one.reuse}
        kept = [group for at, group in enumerate(positions(instruction)) if code.reuse >> at & 1]
        assert {group[0] for group in kept} == marks, instruction.text


@needs_judge
@pytest.mark.parametrize("architecture", OTHERS)
def test_the_judge_notices_an_operand_that_is_read_wrong(tmp_path: Path, architecture: int) -> None:
    """One register of a load, of a sum and of a copy is another in what we read than in what it judges."""
    code = bundled_cubin("scan", architecture)
    assert code is not None
    cubin = placed_at(tmp_path, code)
    text = cubin.with_suffix(".sass").read_text()
    listing = load_listing(cubin.with_suffix(".sass"))
    judge.compare_life_ranges(cubin, listing)
    seen = 0
    for one in instructions(listing):
        if one.opcode in ("LDS", "FADD", "STG") and (register := general(one)):
            wrong = tmp_path / "wrong.sass"
            changed = one.text.replace(register, f"R{int(register[1:]) ^ 1}")
            wrong.write_text(text.replace(f"{one.text} ;", f"{changed} ;"))
            with pytest.raises(AssertionError):
                judge.compare_life_ranges(cubin, load_listing(wrong))
            seen += 1
    assert seen >= 3


def general(instruction: Instruction) -> str | None:
    """A general register of the text that stands there once."""
    found = [f"R{one.number}" for one in instruction.operands if isinstance(one, Register) and not one.is_zero]
    return next((name for name in found if instruction.text.replace("]", " ").count(name) == 1), None)


@needs_judge
def test_the_judge_notices_a_graph_that_is_read_wrong(tmp_path: Path) -> None:
    code = bundled_cubin("scan", 90)
    assert code is not None
    cubin = placed_at(tmp_path, code)
    listing = cubin.with_name("wrong.sass")
    listing.write_text(cubin.with_suffix(".sass").read_text().replace("@!P1 BRA", "@P0 EXIT"))
    with pytest.raises(AssertionError):
        judge.compare_graphs(cubin, load_listing(listing))


@pytest.mark.parametrize(
    ("architecture", "parameters", "shared"),
    [(None, 0x160, 0), (75, 0x160, 0), (89, 0x160, 0), (90, 0x210, 0x400), (100, 0x380, 0x400), (120, 0x380, 0x400)],
)
def test_places_of_a_generation(architecture: int | None, parameters: int, shared: int) -> None:
    found = generation(architecture)
    assert (found.parameters, found.shared) == (parameters, shared)


def test_what_was_not_compared_is_said() -> None:
    assert [remark(number) for number in (None, *COMPARED)] == [None] * (1 + len(COMPARED))
    assert remark(87) == (
        "code is for sm_87; what is executed is that of sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120"
    )
    assert [is_executed(number) for number in (None, 61, 70, 121)] == [True, False, True, True]


def test_every_gpu_has_a_preset_or_the_nearest_one() -> None:
    assert set(PRESETS.values()) <= NAMED.keys()
    nearest = ["turing_rfc", "turing_rfc", "ampere", "ampere", "ada", "hopper", "hopper", "blackwell"]
    assert [preset(number) for number in (70, *COMPARED)] == nearest
    assert [on_codes(number, 0) for number in (None, *PRESETS)] == [None] * 6
    assert [on_codes(number, number) for number in PRESETS] == [None] * 5
    said = "control codes are for sm_{}, whose latencies no preset has; the nearest is {}, of sm_{}"
    assert on_codes(70, 75) == said.format(70, "turing_rfc", 75)
    assert on_codes(100, 90) == on_codes(100, 0) == said.format(100, "hopper", 90)
    said = "control codes are for sm_{}, and the latencies are those of sm_{}: use --preset {}"
    assert on_codes(90, 86) == said.format(90, 86, "hopper")
    assert on_codes(80, 120) == said.format(80, 120, "ampere, which is the nearest")


def test_every_preset_says_for_which_gpu_its_codes_are() -> None:
    configured = {find("modern").configuration(name) for name in PRESETS.values()}
    assert {getattr(cfg, "codes_for") for cfg in configured} == PRESETS.keys()  # noqa: B009


@needs_judge
@pytest.mark.parametrize(("architecture", "name"), RUNS)
def test_bundled_kernels_run_at_the_preset_of_their_gpu(architecture: int, name: str) -> None:
    """The golden model ends at the first stale operand; the check of the listing finds none either."""
    code = listing(name, architecture)
    cfg = find("modern").configuration(preset(architecture))
    assert not any(uncovered(function, cfg) for function in code.functions.values())
    trace = execute(load_kernel(KERNELS / name, "launch", code)).trace
    assert golden_run(find("modern"), cfg, preset(architecture), trace, silent).operands_checked


@needs_judge
def test_a_kernel_needs_the_counters_that_its_code_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    code = listing("tensor", 86)
    cfg = find("modern").configuration("ampere")
    monkeypatch.setattr("warpfile.compiler.passes.modern.annotate.taken", lambda function, cfg, codes: codes)
    trace = execute(load_kernel(KERNELS / "tensor", "launch", code)).trace
    with pytest.raises(Difference, match="dispatches the instruction"):
        golden_run(find("modern"), cfg, "ampere", trace, silent)
