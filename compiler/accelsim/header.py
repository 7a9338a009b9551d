"""The header of a kernel file: ``-key = value`` lines, checked, because tracers write garbage into some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.compiler.accelsim.repairs import Repairs

VERSIONS = range(2, 7)
LARGEST_SHARED = 228 * 1024
_LARGEST_GRID = (1 << 31) - 1
_LARGEST_BLOCK = 1024
_MOST_LINES = 1000
_VERSION = "accelsim tracer version"
_ARCHITECTURES = frozenset(
    (35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121)
)
#: Keys that mean something here; all others are passed over.
KEYS = (
    "kernel name",
    "grid dim",
    "block dim",
    "shmem",
    "nregs",
    "binary version",
    "shmem base_addr",
    "local mem base_addr",
    _VERSION,
    "enable lineinfo",
)


@dataclass(frozen=True)
class Header:
    """The launch of a kernel file. None: absent, or a value that cannot be right."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    version: int
    has_source_lines: bool
    shared_bytes: int | None
    registers: int | None
    architecture: int | None
    shared_window: int | None
    local_window: int | None

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]


def read_header(lines: Iterator[tuple[int, str]], path: Path, overrides: Mapping[str, str], repairs: Repairs) -> Header:
    """Take lines up to the first comment. ``overrides`` replace values by key.

    Raises :class:`AccelsimError` where the launch's shape or the tracer's version is unusable; other garbage is noted.
    """
    fields = _Fields(path, repairs)
    for number, line in lines:
        if line.startswith("#"):
            break
        if number > _MOST_LINES:
            raise AccelsimError(path, number, f"a header must have at most {_MOST_LINES} lines")
        if line.strip():
            fields.take(number, line)
    else:
        raise AccelsimError(path, 0, "must have a '#' line behind its header")
    for key, value in overrides.items():
        if key not in KEYS:
            raise ValueError(f"--header: key must be one of {', '.join(KEYS)}, not {key!r}")
        fields.values[key] = (0, value)
    return _header(fields, path)


def _header(fields: _Fields, path: Path) -> Header:
    return Header(
        kernel=fields.text("kernel name") or path.name.partition(".")[0],
        grid=fields.triple("grid dim", _LARGEST_GRID),
        block=fields.triple("block dim", _LARGEST_BLOCK),
        version=fields.one_of(_VERSION, VERSIONS, 2),
        has_source_lines=bool(fields.one_of("enable lineinfo", range(2), 0)),
        shared_bytes=fields.plausible("shmem", range(LARGEST_SHARED + 1)),
        registers=fields.plausible("nregs", range(1, 256)),
        architecture=fields.plausible("binary version", _ARCHITECTURES),
        shared_window=fields.window("shmem base_addr"),
        local_window=fields.window("local mem base_addr"),
    )


class _Fields:
    """Values by key with their lines."""

    def __init__(self, path: Path, repairs: Repairs) -> None:
        self.path = path
        self.repairs = repairs
        self.values: dict[str, tuple[int, str]] = {}

    def take(self, number: int, line: str) -> None:
        """Keep one line."""
        key, equals, value = line.strip().partition("=")
        if not key.startswith("-") or not equals:
            raise AccelsimError(self.path, number, f"a header line must be '-key = value', not {line.strip()[:60]!r}")
        self.values[key[1:].strip()] = (number, value.strip())

    def text(self, key: str) -> str:
        """A value as it stands; empty where there is none."""
        return self.values.get(key, (0, ""))[1]

    def triple(self, key: str, largest: int) -> tuple[int, int, int]:
        """Three sizes that must be right."""
        found = re.fullmatch(r"\(?\s*(\d{1,18})\s*,\s*(\d{1,18})\s*,\s*(\d{1,18})\s*\)?", self.text(key))
        sizes = tuple(map(int, found.groups())) if found else ()
        product = 1
        for size in sizes:
            product *= size
        if len(sizes) != 3 or not 1 <= product <= largest:
            rule = f"three sizes (x,y,z) with a product from 1 to {largest}"
            raise self._refused(key, rule)
        return sizes[0], sizes[1], sizes[2]

    def one_of(self, key: str, allowed: range, absent: int) -> int:
        """A number that the reading of the body depends on."""
        if key not in self.values:
            if key == _VERSION:
                self.repairs.remark(f"the header has no tracer version; read as version {absent}")
            return absent
        value = _number(self.text(key))
        if value is None or value not in allowed:
            rule = f"a number from {allowed.start} to {allowed.stop - 1}"
            raise self._refused(key, rule, is_final=key == _VERSION and value is not None)
        return value

    def plausible(self, key: str, allowed: range | frozenset[int]) -> int | None:
        """A number that can be done without; garbage is noted."""
        value = _number(self.text(key))
        if value is not None and value in allowed:
            return value
        if key in self.values:
            if not self.values[key][0]:
                raise self._refused(key, "a plausible number")
            self.repairs.remark(f"the header's {key} ({self.text(key)[:40]}) cannot be right and is not used")
        return None

    def window(self, key: str) -> int | None:
        """Start of an address window, which is never zero."""
        text = self.text(key)
        if not re.fullmatch(r"(0x)?[0-9a-fA-F]{1,16}", text):
            if key in self.values:
                self.repairs.remark(f"the header's {key} ({text[:40]}) is no address and is not used")
            return None
        return int(text, 16) or None

    def _refused(self, key: str, rule: str, is_final: bool = False) -> AccelsimError:
        """What is wrong with a value, and how to replace it, unless it is right and the lines are what is not read."""
        line, text = self.values.get(key, (0, ""))
        found = f"not {text[:60]!r}" if key in self.values else "and is missing"
        advice = "" if is_final else f"; --header '{key}=VALUE' overrides it"
        return AccelsimError(self.path, line, f"{key} must be {rule}, {found}{advice}")


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,18}", text) else None
