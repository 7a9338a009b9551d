"""Cubins of several GPUs in one archive, ``sm_90/saxpy.cubin`` and so on, a tenth of their size together."""

import io
import tarfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

#: Bundled kernels for every GPU but the target, whose cubins stand beside their sources; ``kernels.build`` makes it.
BUNDLED = Path(__file__).with_name("cubins.tar.xz")


def pack(cubins: Mapping[str, bytes], archive: Path) -> None:
    """Write an archive whose bytes depend on its members alone."""
    with tarfile.open(archive, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as tar:
        for name, data in sorted(cubins.items(), key=lambda one: (Path(one[0]).name, one[0])):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


@cache
def unpacked(archive: Path) -> Mapping[str, bytes]:
    """The members of an archive, by name."""
    with tarfile.open(archive, "r:xz") as tar:
        return {member.name: file.read() for member in tar if (file := tar.extractfile(member)) is not None}


def member(kernel: str, architecture: int) -> str:
    """Name of a kernel's cubin in an archive; the architecture is 90 for sm_90."""
    return f"sm_{architecture}/{kernel}.cubin"


def bundled_cubin(kernel: str, architecture: int) -> bytes | None:
    """Machine code of a bundled kernel for a GPU; None where there is none."""
    return unpacked(BUNDLED).get(member(kernel, architecture))
