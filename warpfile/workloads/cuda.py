"""From a CUDA file, PTX or machine code to a kernel directory, with NVIDIA's compiler, assembler and disassembler."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from warpfile.compiler import Function, Listing, parse
from warpfile.compiler.architectures import TARGET, is_executed, remark
from warpfile.compiler.cubin import architecture as cubin_architecture
from warpfile.compiler.cubin import is_cubin
from warpfile.compiler.parser import LARGEST_LISTING
from warpfile.kernels.toolkit import find_tool, run_tool
from warpfile.output.display import Report
from warpfile.output.files import file_name, new_folder
from warpfile.spec.reading import check_input, named, read_input
from warpfile.workloads.fat_binary import cubins
from warpfile.workloads.signature import plain_name
from warpfile.workloads.skeleton import skeleton
from warpfile.workloads.triton import metadata

_COMPILED = (".cu", ".ptx")
_TARGET = re.compile(rb"^\s*\.target\s+sm_([0-9]+)", re.MULTILINE)
_ENTRY = re.compile(r'^\s*\.other\s+([^,\s]+),@"STO_CUDA_ENTRY', re.MULTILINE)


@dataclass(frozen=True)
class Imported:
    """A kernel with its listing and its launch file to be filled in."""

    listing: Listing
    function: Function
    launch: str

    @property
    def folder(self) -> Path:
        """The default place of the output."""
        return Path(file_name(plain_name(self.function.name)))

    def write(self, folder: Path) -> None:
        """Make the kernel directory, whole or not at all."""
        with new_folder(folder) as place:
            for name, text in (("kernel.sass", self.listing.text), ("launch.toml", self.launch)):
                with named(folder / name):
                    (place / name).write_text(text, encoding="utf-8")


def import_kernel(source: Path, wanted: str | None, report: Report, architecture: int | None = None) -> Imported:
    """Compile, disassemble and read a kernel, the only one or the wanted one by its symbol or its plain name.

    ``architecture`` is 90 for sm_90; by default a CUDA file is for sm_75, PTX for what it names, and machine code for
    the GPUs that it contains. Raises ``ValueError`` and ``OSError``.
    """
    texts = _disassembled(source, architecture, report)
    symbol = _chosen(source, "".join(texts), wanted)
    listing = parse(next(text for text in texts if symbol in _ENTRY.findall(text)), f"listing of {source}")
    function = listing.function(symbol)
    return Imported(listing, function, skeleton(listing, function, metadata(source)))


def compiled(source: Path, architecture: int, report: Report) -> Listing:
    """Listing of a CUDA file, with control codes. Raises ``ValueError`` and ``OSError``."""
    (text,) = _disassembled(source, architecture, report)
    return parse(text, f"listing of {source} for sm_{architecture}")


def disassembled(cubin: bytes, name: str) -> Listing:
    """Listing of a cubin, with control codes; ``name`` stands for it in messages. Raises ``ValueError``."""
    with tempfile.TemporaryDirectory(prefix="warpfile-") as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin)
        return parse(_shown(path), name)


def _disassembled(source: Path, architecture: int | None, report: Report) -> list[str]:
    """Texts of the listings of a file, one per cubin; a fat binary that was linked has several."""
    check_input(source, LARGEST_LISTING)
    with tempfile.TemporaryDirectory(prefix="warpfile-") as name:
        report("compile")
        found = _cubins(source, architecture, Path(name))
        for cubin in found:
            _check(source, cubin.read_bytes(), None if source.suffix in _COMPILED else architecture)
        report("disassemble")
        texts = [_shown(cubin) for cubin in found]
    if (length := sum(map(len, texts))) > LARGEST_LISTING:
        raise ValueError(f"{source}: listing must have at most {LARGEST_LISTING:,} characters, not {length:,}")
    return texts


def _cubins(source: Path, architecture: int | None, folder: Path) -> list[Path]:
    """Cubins of a file, in ``folder``: compiled, assembled, taken out, or the file itself."""
    cubin = folder / f"{file_name(source.stem)}.cubin"
    if source.suffix == ".cu":
        _compile(source, cubin, architecture or TARGET)
    elif source.suffix == ".ptx":
        _assemble(source, cubin, architecture)
    elif source.suffix == ".sass":
        raise ValueError(
            f"{source} is a listing already: name it kernel.sass in a folder with launch.toml (docs/kernels.md)"
        )
    else:
        data = read_input(source, LARGEST_LISTING)
        if source.suffix != ".cubin" and not is_cubin(data):
            return cubins(source, data, architecture, folder)
        cubin.write_bytes(data)
    return [cubin]


def _shown(cubin: Path) -> str:
    return run_tool([str(find_tool("nvdisasm")), "-hex", cubin.name], cubin.parent)


def _compile(source: Path, cubin: Path, architecture: int) -> None:
    options = [f"-arch=sm_{architecture}", "-O3", "-cubin", "-o", str(cubin)]
    run_tool([str(find_tool("nvcc")), *options, str(source)])


def _assemble(source: Path, cubin: Path, architecture: int | None) -> None:
    """PTX for the GPU that it names, unless another one is asked for."""
    target = _TARGET.search(read_input(source, LARGEST_LISTING))
    if target is None:
        raise ValueError(f"{source} must be PTX, which names a .target")
    number = architecture or int(target[1])
    run_tool([str(find_tool("ptxas")), f"-arch=sm_{number}", "-O3", "-o", str(cubin), str(source)])


def _check(source: Path, cubin: bytes, wanted: int | None) -> None:
    """Refuse what is no cubin, one for another GPU than the wanted one, or one whose code cannot be executed."""
    try:
        found = cubin_architecture(cubin)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    if wanted not in (None, found):
        raise ValueError(f"--arch must be sm_{found}, which {source} is for, not sm_{wanted}")
    if not is_executed(found):
        raise ValueError(f"{source}: {remark(found)}")


def _chosen(source: Path, text: str, wanted: str | None) -> str:
    """Symbol of the kernel."""
    kernels = {symbol: plain_name(symbol) for symbol in sorted(_ENTRY.findall(text))}
    if not kernels:
        raise ValueError(f"{source} must hold a kernel, a __global__ function; templates must be instantiated")
    matching = [symbol for symbol, plain in kernels.items() if wanted in (None, symbol, plain)]
    if len(matching) == 1:
        return matching[0]
    plain = sorted(set(kernels.values()))
    names = ", ".join(plain if len(plain) == len(kernels) else kernels)
    given = "" if wanted is None else f", not {wanted!r}"
    raise ValueError(f"--kernel must be one of {names}, the kernels of {source}{given}")
