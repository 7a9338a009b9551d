"""Changes of a machine or of its input that any page can make: docs/evidence.md, "A factor"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from warpfile.compiler import Listing
from warpfile.compiler.ptx.listing import allocated
from warpfile.kernels import build
from warpfile.output.display import silent
from warpfile.pages.evidence.samples import Metric
from warpfile.results.designs import design
from warpfile.results.points import TWICE, Point
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.workloads.cuda import disassembled
from warpfile.workloads.inputs import SETTINGS, bundled_kernels, fingerprint_of

#: Traces of bundled kernels of other code.
TRACES = Path("build") / "evidence-traces"
LEVELS = ("O0", "O1", "O2", "O3")
_SHARED = frozenset(one.name for one in fields(Config))


@dataclass(frozen=True)
class Factor:
    """One change, as words and as what it does to a point.

    ``both``: fields of the machine and of the one beside it. ``own``: of the machine alone. ``beside``: of the other
    alone. ``scheme``: what the machine's scheme is replaced by; fields that it has not are dropped. ``setting``: the
    launch. ``issues``: who issues twice. ``level``: of ptxas. ``file``: another golden class for the register file of
    the machine. ``counted``: another metric from here on. ``assumed``: where the paper says that it is so. ``preset``:
    of both machines. ``target``: the GPU that the code is for, 86 for sm_86. ``base``: address of the first buffer.
    ``ptx``: allocated PTX (docs/ptx.md).
    """

    what: str
    both: Mapping[str, object] = field(default_factory=dict)
    own: Mapping[str, object] = field(default_factory=dict)
    beside: Mapping[str, object] = field(default_factory=dict)
    scheme: str = ""
    setting: str = ""
    issues: str = ""
    level: str = ""
    file: str = ""
    counted: Metric | None = None
    assumed: str = ""
    preset: str = field(default="", repr=False)
    target: int = field(default=0, repr=False)
    base: int = field(default=0, repr=False)
    ptx: bool = field(default=False, repr=False)

    def of(self, point: Point) -> Point:
        """The machine with it."""
        if self.scheme:
            kept = tuple(one for one in point.changes if one[0] in _SHARED)
            point = replace(point, scheme=self.scheme, changes=kept)
        changed = replace(point, file=self.file or point.file)
        return self._input(changed.with_changes(**self.both, **self.own))

    def of_other(self, point: Point) -> Point:
        """The machine beside it with it."""
        return self._input(point.with_changes(**self.both, **self.beside))

    def _input(self, point: Point) -> Point:
        return replace(
            point,
            preset=self.preset or point.preset,
            setting=self.setting or point.setting,
            issues=self.issues or point.issues,
        )


NO_L1 = Factor("no L1 cache", both={"cache_lines": 0})
PIPELINED_BANKS = Factor("banks that take an access in every cycle", both={"bank_occupancy": "one"})


def scheduler(name: str, assumed: str = "") -> Factor:
    """Another scheduler on both sides."""
    return Factor(f"scheduler {name}", both={"scheduler": name}, assumed=assumed)


def units(number: int, assumed: str = "") -> Factor:
    """Another number of collector units on both sides."""
    return Factor(f"{number} collector units", both={"collectors": number}, assumed=assumed)


def matched(scheme: str, preset: str) -> Factor:
    """The matched baseline of a scheme (docs/study.md) in place of the one at the preset."""
    return Factor("the matched baseline", beside=design(find(scheme), preset, ()).matching.given)


def launch(setting: str, assumed: str = "") -> Factor:
    """Another launch of every kernel. Raises ``ValueError`` for one that kernels do not have."""
    if setting not in SETTINGS:
        raise ValueError(f"setting must be one of {', '.join(SETTINGS)}, not {setting!r}")
    return Factor(f"launches of setting {setting}", setting=setting, assumed=assumed)


def two_issues(who: str, assumed: str = "") -> Factor:
    """Two issues per cycle. Raises ``ValueError`` for a way that golden models do not have."""
    if who not in TWICE:
        raise ValueError(f"who must be one of {', '.join(TWICE)}, not {who!r}")
    return Factor(f"two issues per cycle, of {who}", issues=who, assumed=assumed)


def replaced(what: str, scheme: str, **own: object) -> Factor:
    """Another scheme in place of the paper's, with fields of its own."""
    return Factor(what, own=own, scheme=scheme)


def ptxas(level: str, assumed: str = "") -> Factor:
    """Code of another optimisation level of ptxas. Raises ``ValueError`` for one that it does not have."""
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
    return Factor(f"code of ptxas -{level}", level=level, assumed=assumed)


def code_for(target: int, assumed: str = "") -> Factor:
    """Code for another GPU, 86 for sm_86. Raises ``ValueError`` for one whose code no kernel has."""
    if target not in build.OTHERS:
        raise ValueError(f"target must be one of {', '.join(map(str, build.OTHERS))}, not {target}")
    return Factor(f"code for sm_{target}", target=target, assumed=assumed)


def allocated_ptx(assumed: str = "") -> Factor:
    """PTX with machine registers in place of machine code (docs/ptx.md)."""
    return Factor("allocated PTX", ptx=True, assumed=assumed)


def addresses(base: int, assumed: str = "") -> Factor:
    """Buffers of every launch from an address on."""
    return Factor(f"buffers from address 0x{base:X} on", base=base, assumed=assumed)


@dataclass(frozen=True)
class Input:
    """How traces are made: a level of ptxas, the GPU that the code is for, and the address of the first buffer.

    Without a level it is -O3, without a GPU the bundled kernels' own, without an address the emulator's. With ``ptx``
    the code is allocated PTX, which has neither level nor GPU.
    """

    level: str = ""
    target: int = 0
    base: int = 0
    ptx: bool = False

    def with_factor(self, factor: Factor) -> Input:
        """The same with one factor more; of code of two kinds the later one counts."""
        base = factor.base or self.base
        if factor.ptx or (self.ptx and not (factor.level or factor.target)):
            return Input(base=base, ptx=True)
        return Input(factor.level or self.level, factor.target or self.target, base)

    @property
    def parts(self) -> tuple[str, ...]:
        """What differs from bundled traces."""
        target, base = f"sm_{self.target}" if self.target else "", f"0x{self.base:X}" if self.base else ""
        return tuple(filter(None, ("ptx" if self.ptx else "", self.level, target, base)))

    def trace(self, kernel: str, setting: str) -> str:
        """The KERNEL that a bundled kernel is then: a trace, made now unless there is one.

        Raises ``ValueError`` without nvcc and nvdisasm, for a kernel whose outputs are wrong, and with ``ptx`` for one
        that is refused.
        """
        from warpfile.emulator.launch import load_kernel
        from warpfile.emulator.memory import GLOBAL_BASE
        from warpfile.emulator.run import execute

        folder = bundled_kernels()[kernel]
        place = TRACES.joinpath(*self.parts) / f"{kernel}-{setting}-{fingerprint_of(folder, setting)}.npz"
        if not place.exists():
            launch = load_kernel(folder, setting, self._listing(folder, f"listing of {place.with_suffix('')}"))
            done = execute(launch, None, lambda *_: silent("execute"), base=self.base or GLOBAL_BASE)
            if wrong := [one.report for one in done.expectations if not one.ok]:
                raise ValueError(f"{place.with_suffix('')}: outputs must be those of NumPy: {'; '.join(wrong)}")
            place.parent.mkdir(parents=True, exist_ok=True)
            done.trace.save(place)
        return str(place)

    def _listing(self, folder: Path, name: str) -> Listing | None:
        """Of code that is not the bundled one."""
        if self.ptx:
            return allocated(build.ptx(folder / "kernel.cu", build.TARGET), name)
        if not (self.level or self.target):
            return None
        options = ("-Xptxas", f"-{self.level or LEVELS[-1]}")
        return disassembled(build.compiled(folder / "kernel.cu", self.target or build.TARGET, *options), name)


#: Bundled traces.
PLAIN = Input()
