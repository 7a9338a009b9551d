"""What one launch of a kernel is, and how it is written as ``launch.toml`` and ``.npy`` files."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SCALAR_TYPES = ("i32", "u32", "f32", "i64", "u64", "f64")
UNWRITTEN = -1  # fills buffers that a kernel only writes, so that a word it forgets is seen


@dataclass(frozen=True, kw_only=True)
class Argument:
    """One kernel parameter: a scalar with a ``value``, or a buffer with contents before and after the kernel."""

    name: str
    type: str
    value: float | None = None
    init: np.ndarray | None = None
    expect: np.ndarray | None = None
    rtol: float | None = None
    atol: float | None = None

    def __post_init__(self) -> None:
        if self.type not in (*SCALAR_TYPES, "buffer"):
            raise ValueError(f"type of {self.name} must be one of {SCALAR_TYPES} or 'buffer', not {self.type!r}")
        if (self.type == "buffer") != (self.init is not None) or (self.type == "buffer") == (self.value is not None):
            raise ValueError(f"{self.name} must have init if it is a buffer and a value otherwise")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """Grid, block, dynamic shared memory and the parameters in the order of the kernel's declaration."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Argument, ...] = field(repr=False)
    shared_bytes: int = 0

    @property
    def warps(self) -> int:
        """Warps of the whole grid."""
        threads, blocks = int(np.prod(self.block)), int(np.prod(self.grid))
        return blocks * -(-threads // 32)


def scalar(name: str, type: str, value: float) -> Argument:
    """A parameter passed by value."""
    return Argument(name=name, type=type, value=value)


def buffer(
    name: str,
    init: np.ndarray,
    expect: np.ndarray | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
) -> Argument:
    """A parameter that points to an array; without ``expect`` the kernel only reads it."""
    if expect is not None and (expect.dtype != init.dtype or expect.shape != init.shape):
        raise ValueError(f"expect of {name} must be {init.dtype}{init.shape}, not {expect.dtype}{expect.shape}")
    return Argument(name=name, type="buffer", init=init, expect=expect, rtol=rtol, atol=atol)


def output(name: str, expect: np.ndarray, *, rtol: float | None = None, atol: float | None = None) -> Argument:
    """A buffer that the kernel writes completely."""
    blank = np.full(expect.shape, UNWRITTEN).astype(expect.dtype)
    return buffer(name, blank, expect, rtol=rtol, atol=atol)


def generator(kernel: str, size: str) -> np.random.Generator:
    """Random numbers that depend on the kernel and the size only."""
    return np.random.Generator(np.random.PCG64(list(f"{kernel}/{size}".encode())))


def write(launch: Launch, directory: Path, kernel: str, stem: str, prefix: str = "") -> None:
    """Write ``<stem>.toml`` and its arrays, whose names start with ``prefix``, into a directory."""
    lines = [
        f'kernel = "{kernel}"',
        f"grid = {list(launch.grid)}",
        f"block = {list(launch.block)}",
        f"shared_bytes = {launch.shared_bytes}",
    ]
    for argument in launch.arguments:
        lines += ["", "[[args]]", f'name = "{argument.name}"', f'type = "{argument.type}"']
        lines += _scalar_lines(argument) if argument.init is None else _buffer_lines(argument, directory, prefix)
    (directory / f"{stem}.toml").write_text("\n".join(lines) + "\n")


def _scalar_lines(argument: Argument) -> list[str]:
    return [f"value = {argument.value}"]


def _buffer_lines(argument: Argument, directory: Path, prefix: str) -> list[str]:
    lines = []
    for key, array in (("init", argument.init), ("expect", argument.expect)):
        if array is not None:
            file = f"{prefix}{argument.name}{'_expected' if key == 'expect' else ''}.npy"
            # Little-endian C order, so that the bytes do not depend on the machine that writes them.
            np.save(directory / file, np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))
            lines.append(f'{key} = "{file}"')
    lines += [f"{key} = {value}" for key in ("rtol", "atol") if (value := getattr(argument, key)) is not None]
    return lines
