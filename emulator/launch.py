"""A kernel directory as a checked launch. Every rule of ``docs/kernels.md``'s launch file is checked here, once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import Any

from warpfile.compiler import Function, Listing, ListingError, load_listing
from warpfile.compiler.architectures import Generation, generation, shared_limit, whereabouts
from warpfile.compiler.unsupported import grid_sync
from warpfile.emulator.arguments import Argument
from warpfile.emulator.constants import Constant
from warpfile.emulator.errors import LaunchError
from warpfile.emulator.lanes import LANES
from warpfile.emulator.rows import check_names, load_argument, load_constants, missing_of
from warpfile.spec.reading import InputError, read_toml

SETTINGS = ("launch", "large")
SHARED_DEFAULT = 48 * 1024
_KEYS = {"kernel", "grid", "block", "shared_bytes", "static_shared_bytes", "args", "constants"}
_REQUIRED = ("kernel", "grid", "block")
_GRID_LIMITS = (2**31 - 1, 65535, 65535)
_BLOCK_LIMITS = (1024, 1024, 64)
_THREADS = 1024


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel: what the emulator needs, all of it checked."""

    path: Path  #: of the launch file
    listing: Listing
    function: Function
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    static_shared: int | None  #: None where neither listing nor launch file tells
    dynamic_shared: int
    arguments: tuple[Argument, ...]
    constants: tuple[Constant, ...] = ()

    @property
    def shared_bytes(self) -> int:
        """Shared memory that a CTA may touch, static and dynamic; what is unknown may be up to 48 KiB in all."""
        static = self.static_shared
        return max(SHARED_DEFAULT, self.dynamic_shared) if static is None else static + self.dynamic_shared

    @property
    def places(self) -> Generation:
        """Where the code expects what a launch gives it; the listing's own word for the parameters counts."""
        found, base = generation(self.listing.architecture), self.function.parameter_base
        return found if base is None else replace(found, parameters=base)

    @property
    def ctas(self) -> int:
        """CTAs of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def warps(self) -> int:
        """Warps of all CTAs."""
        return self.ctas * -(-self.block[0] * self.block[1] * self.block[2] // LANES)


def load_kernel(directory: Path, setting: str = "launch", listing: Listing | None = None) -> Launch:
    """Read ``kernel.sass``, unless a listing is given, and ``<setting>.toml`` of a kernel directory.

    Raises :class:`LaunchError`.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise LaunchError(f"{directory}: kernel must be a directory with kernel.sass and launch.toml")
    path = directory / f"{setting}.toml"
    table = _read_table(path)
    listing = listing or _read_listing(directory / "kernel.sass")
    name = _string(path, table, "kernel")
    if name not in listing.functions:
        known = ", ".join(listing.functions)
        raise LaunchError(f"{path}: kernel must be a function of kernel.sass ({known}), not {name!r}")
    function = listing.functions[name]
    if waits := grid_sync(function):
        where = whereabouts(waits.offset, listing.architecture)
        raise LaunchError(f"{path}: kernel must not call grid.sync() ({where}): cooperative launches are not executed")
    static, dynamic = _shared(path, table, function, shared_limit(listing.architecture))
    return Launch(
        path=path,
        listing=listing,
        function=function,
        grid=_triple(path, table, "grid", _GRID_LIMITS),
        block=_block(path, table, function),
        static_shared=static,
        dynamic_shared=dynamic,
        arguments=_arguments(path, table, function),
        constants=load_constants(path, table.get("constants", []), listing),
    )


def _read_table(path: Path) -> dict[str, Any]:
    try:
        table = read_toml(path)
    except FileNotFoundError:
        raise LaunchError(f"{path} is missing: docs/kernels.md describes this file") from None
    except InputError as error:
        raise LaunchError(str(error)) from None
    for key in table:
        if key not in _KEYS:
            raise LaunchError(f"{path}: key must be one of {', '.join(sorted(_KEYS))}, not {key!r}")
    if missing := [*(key for key in _REQUIRED if key not in table), *missing_of(path.parent, table.get("args"))]:
        raise LaunchError(f"{path}: must be given: {', '.join(missing)}")
    return table


def _read_listing(path: Path) -> Listing:
    try:
        listing = load_listing(path)
    except FileNotFoundError:
        raise LaunchError(f"{path}: listing must exist (make it with 'nvdisasm FILE.cubin')") from None
    except (ListingError, InputError) as error:
        raise LaunchError(str(error)) from None
    return listing


def _string(path: Path, table: dict[str, Any], key: str) -> str:
    value = table[key]
    if not isinstance(value, str):
        raise LaunchError(f"{path}: {key} must be a string, not {value!r}")
    return value


def _bytes(path: Path, table: dict[str, Any], key: str) -> int:
    value = table.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise LaunchError(f"{path}: {key} must be a number of bytes, not {value!r}")
    return value


def _triple(path: Path, table: dict[str, Any], key: str, limits: tuple[int, ...]) -> tuple[int, int, int]:
    value = table[key]
    if not isinstance(value, list) or len(value) != 3:
        raise LaunchError(f"{path}: {key} must be three integers [x, y, z], not {value!r}")
    for axis, number, limit in zip("xyz", value, limits, strict=True):
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= limit:
            raise LaunchError(f"{path}: {key}.{axis} must be an integer from 1 to {limit}, not {number!r}")
    return value[0], value[1], value[2]


def _block(path: Path, table: dict[str, Any], function: Function) -> tuple[int, int, int]:
    block = _triple(path, table, "block", _BLOCK_LIMITS)
    threads, most = prod(block), min(_THREADS, prod(function.block_limit or (_THREADS,)))
    if function.block and block != function.block:
        raise LaunchError(f"{path}: block must be {list(function.block)} as in the listing, not {list(block)}")
    if threads > most:
        raise LaunchError(f"{path}: block must have at most {most} threads, not {threads}")
    return block


def _shared(path: Path, table: dict[str, Any], function: Function, limit: int) -> tuple[int | None, int]:
    """Static and dynamic bytes; the static part from the listing or the launch file, None if neither has it."""
    dynamic = _bytes(path, table, "shared_bytes")
    static = function.static_shared
    if "static_shared_bytes" in table:
        given = _bytes(path, table, "static_shared_bytes")
        if static is not None and static != given:
            raise LaunchError(f"{path}: static_shared_bytes must be {static} as in the listing, not {given}")
        static = given
    if (static or 0) + dynamic > limit:
        raise LaunchError(f"{path}: shared memory must be at most {limit} bytes, not {static or 0} + {dynamic}")
    return static, dynamic


def _arguments(path: Path, table: dict[str, Any], function: Function) -> tuple[Argument, ...]:
    rows = table.get("args", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise LaunchError(f"{path}: args must be tables [[args]]")
    arguments = tuple(load_argument(path, number, row) for number, row in enumerate(rows, start=1))
    check_names(path, arguments)
    _compare_with_listing(path, arguments, function)
    return arguments


def _compare_with_listing(path: Path, arguments: tuple[Argument, ...], function: Function) -> None:
    if function.parameters is None:
        return
    if len(arguments) != len(function.parameters):
        wanted = len(function.parameters)
        raise LaunchError(f"{path}: args must be {wanted} as {function.name} has in the listing, not {len(arguments)}")
    end = 0
    for argument, parameter in zip(arguments, function.parameters, strict=True):
        where = f"{path}: argument {argument.name!r} ({argument.type}) must"
        if argument.size != parameter.size:
            raise LaunchError(f"{where} have {parameter.size} bytes as in the listing, not {argument.size}")
        start = end + -end % argument.alignment
        if start != parameter.offset:
            raise LaunchError(f"{where} start at {parameter.offset:#x} as in the listing, not {start:#x}; give 'align'")
        end = start + argument.size
