"""The machines of the schemes as classes, for tests that look into their parts or replace some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from warpfile.golden import Machine
from warpfile.golden.collectors.bow.collectors import Windows
from warpfile.golden.collectors.coalescing.collectors import Coalescing
from warpfile.golden.collectors.malekeh.collectors import CachingCollectors
from warpfile.golden.collectors.read_window.collectors import ReadWindow
from warpfile.golden.collectors.sticky.collectors import StickyUnits
from warpfile.golden.collectors.units.collectors import Units
from warpfile.golden.rf.banked.file import BankedFile
from warpfile.golden.rf.ltrf.file import PrefetchedFile
from warpfile.golden.rf.owf.file import OwfFile
from warpfile.golden.rf.packed.file import PackedFile
from warpfile.golden.rf.pilot.file import PilotFile
from warpfile.golden.rf.ported.file import PortedFile
from warpfile.golden.rf.regmutex.file import RegMutexFile
from warpfile.golden.rf.rfc.file import CachedFile
from warpfile.golden.rf.scalar.file import ScalarFile
from warpfile.golden.rf.shared.file import SharedFile
from warpfile.golden.rf.shrf.file import LeveledFile
from warpfile.golden.scheduler.las.scheduler import Las
from warpfile.schemes import find
from warpfile.schemes.part import load_object
from warpfile.spec.config import Config
from warpfile.spec.probe import Fields, ProbeLayout


def layout_of(scheme: str, cfg: Config) -> ProbeLayout:
    """All probes of a scheme."""
    return ProbeLayout(find(scheme).probes(cfg))


def events_of(scheme: str, cfg: Config) -> Callable[[Fields], Mapping[str, int]]:
    """Sums of all counters of a scheme from its probes."""
    return partial(find(scheme).events, cfg)


class Baseline(Machine):
    """The machine of ``baseline``; a subclass may put its own ``kind`` of collectors or of register file into it."""

    scheme = "baseline"
    kind: type[Any] | None = None
    file_kind: type[Any] | None = None
    collectors: Units
    file: BankedFile

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        scheduler, collectors, file = (load_object(part.golden) for part in find(self.scheme).parts(cfg))
        super().__init__(cfg, layout, scheduler, self.kind or collectors, self.file_kind or file)


class Bow(Baseline):
    """The machine of ``bow``."""

    scheme = "bow"
    collectors: Windows  # type: ignore[assignment]


class Malekeh(Baseline):
    """The machine of ``malekeh``."""

    scheme = "malekeh"
    collectors: CachingCollectors  # type: ignore[assignment]


class Sticky(Baseline):
    """The machine of ``sticky``."""

    scheme = "sticky"
    collectors: StickyUnits


class Shrf(Baseline):
    """The machine of ``shrf``."""

    scheme = "shrf"
    file: LeveledFile


class Rfc(Baseline):
    """The machine of ``rfc``."""

    scheme = "rfc"
    file: CachedFile  # type: ignore[assignment]


class Pilot(Baseline):
    """The machine of ``pilot``."""

    scheme = "pilot"
    file: PilotFile  # type: ignore[assignment]


class RegMutex(Baseline):
    """The machine of ``regmutex``."""

    scheme = "regmutex"
    file: RegMutexFile  # type: ignore[assignment]


class Owf(Baseline):
    """The machine of ``owf``."""

    scheme = "owf"
    file: OwfFile  # type: ignore[assignment]


class Scalar(Baseline):
    """The machine of ``scalar``."""

    scheme = "scalar"
    file: ScalarFile  # type: ignore[assignment]


class Ltrf(Baseline):
    """The machine of ``ltrf``."""

    scheme = "ltrf"
    file: PrefetchedFile  # type: ignore[assignment]


class Packed(Baseline):
    """The machine of ``corf``, and of every other name that has its parts."""

    scheme = "corf"
    collectors: Coalescing  # type: ignore[assignment]
    file: PackedFile  # type: ignore[assignment]


class Shared(Baseline):
    """The machine of ``larf``."""

    scheme = "larf"
    collectors: Coalescing  # type: ignore[assignment]
    file: SharedFile  # type: ignore[assignment]


class Lookahead(Shared):
    """The machine of ``larf+las``."""

    scheme = "larf+las"
    scheduler: Las


class BowRows(Baseline):
    """The machine of ``bow_wr+packed``."""

    scheme = "bow_wr+packed"
    collectors: Windows  # type: ignore[assignment]
    file: PackedFile  # type: ignore[assignment]


class Modern(Baseline):
    """The machine of ``modern``."""

    scheme = "modern"
    collectors: ReadWindow  # type: ignore[assignment]
    file: PortedFile  # type: ignore[assignment]
