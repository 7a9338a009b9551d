"""The corpus of every GPU in the emulator, at both levels of optimization, against NumPy."""

from __future__ import annotations

import pytest

from tests.compiler.corpus.build import ARCHIVE
from tests.compiler.corpus.references import REFERENCES, differences, launch
from tests.compiler.turns import in_turn
from warpfile.compiler import parse
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.run import execute
from warpfile.kernels.packed import unpacked
from warpfile.workloads.cuda import disassembled

SOURCES = {name: name.partition("/")[2].rpartition("-")[0] for name in unpacked(ARCHIVE)}
#: Products of single bits, where newer GPUs have none: nvcc makes them with MOVM.U4TO8, which is not executed.
REFUSED = {f"sm_{gpu}/mma_b1-{level}.cubin" for gpu in (100, 120) for level in ("O1", "O3")}
#: Run in every session, one for each thing that only some GPUs have.
FEW = {
    "sm_80/async_copy-O3.cubin",
    "sm_86/lanes-O1.cubin",
    "sm_89/mma_tf32-O3.cubin",
    "sm_90/lanes-O3.cubin",
    "sm_90/vector_atomics-O3.cubin",
    "sm_100/mma_f16-O1.cubin",
    "sm_120/integers64-O3.cubin",
    "sm_120/video-O1.cubin",
}
CASES = [
    pytest.param(name, marks=() if name in FEW else in_turn(number))
    for number, (name, source) in enumerate(SOURCES.items())
    if source in REFERENCES and name not in REFUSED
]

pytestmark = pytest.mark.needs("nvdisasm")


@pytest.mark.parametrize("name", CASES)
def test_kernels_compute_what_numpy_does(name: str) -> None:
    reference = REFERENCES[SOURCES[name]]()
    result = execute(launch(disassembled(unpacked(ARCHIVE)[name], name), reference))
    assert differences(result.buffers, reference) == []


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_is_not_executed_is_refused_by_name(name: str) -> None:
    reference = REFERENCES[SOURCES[name]]()
    with pytest.raises(ExecutionError, match=r"modifier \.U4TO8 of MOVM cannot be executed"):
        execute(launch(disassembled(unpacked(ARCHIVE)[name], name), reference))


def test_references_are_of_sources_and_few_of_cases() -> None:
    assert REFERENCES.keys() <= set(SOURCES.values())
    assert {name for name, source in SOURCES.items() if source in REFERENCES} >= FEW


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sm_90/lanes-O3.cubin", "WARPSYNC.EXCLUSIVE R8", "NOP"),
        ("sm_120/video-O1.cubin", "VIMNMX.U8x4", "VIMNMX.U32"),
        ("sm_80/mma_bf16-O3.cubin", "HMMA.16816.F32.BF16 ", "HMMA.16816.F32 "),
    ],
)
def test_code_that_computes_something_else_is_noticed(name: str, old: str, new: str) -> None:
    text = disassembled(unpacked(ARCHIVE)[name], name).text
    assert old in text
    reference = REFERENCES[SOURCES[name]]()
    result = execute(launch(parse(text.replace(old, new), name), reference))
    assert differences(result.buffers, reference)
