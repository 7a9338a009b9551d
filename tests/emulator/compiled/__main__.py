"""Compile and disassemble every source of this folder."""

import gzip
import re
import tempfile
from pathlib import Path

from tests.emulator.compiled import FOLDER, NAMES
from warpfile.kernels.build import TARGET
from warpfile.kernels.toolkit import find_tool, run_tool

for name in NAMES:
    with tempfile.TemporaryDirectory() as directory:
        cubin = Path(directory) / f"{name}.cubin"
        options = [f"-arch=sm_{TARGET}", "-O3", "-cubin", "-o", str(cubin)]
        run_tool([str(find_tool("nvcc")), *options, f"{name}.cu"], FOLDER)
        shown = run_tool([str(find_tool("nvdisasm")), "-hex", cubin.name], cubin.parent)
    unused = re.compile(r"^//-+ \.debug_frame.*?(?=^//-+ )", re.MULTILINE | re.DOTALL)
    packed = gzip.compress(re.sub(r" +(?=/\* 0x)", " ", unused.sub("", shown)).encode(), mtime=0)
    (FOLDER / f"{name}.sass.gz").write_bytes(packed)
    print(f"wrote {name}.sass.gz")
