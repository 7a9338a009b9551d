"""Deliberate bugs in different places of the RTL. Each lets a conflict-free run of a single warp pass."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

from amaranth import Const, Module

from warpfile.hdl import arbiter
from warpfile.hdl.barrier import Barrier
from warpfile.hdl.collectors.write_after_read import WriteAfterRead
from warpfile.hdl.rams import bank as ram
from warpfile.hdl.rf import bank, location
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config


@dataclass(frozen=True)
class Bug:
    """A change of the generator: ``patch()`` is a context in which it is in place."""

    name: str
    patch: Callable[[], object]


@contextmanager
def _ram_ignores_masks() -> Iterator[None]:
    original = ram.ram_verilog
    with mock.patch.object(ram, "ram_verilog", lambda *given: original(*given).replace("if (mask[lane]) ", "")):
        yield


@contextmanager
def _barrier_of_one() -> Iterator[None]:
    """A CTA is released as soon as one of its warps waits."""

    def elaborate(self, platform):
        m = Module()
        m.d.sync += self.waiting.eq(self.arrive)
        return m

    with mock.patch.object(Barrier, "elaborate", elaborate):
        yield


@contextmanager
def _no_write_after_read() -> Iterator[None]:
    with mock.patch.object(WriteAfterRead, "elaborate", lambda self, platform: Module()):
        yield


@contextmanager
def _lowest_port_first() -> Iterator[None]:
    with mock.patch.object(bank, "highest_one", arbiter.lowest_one):
        yield


@contextmanager
def _every_warp_at_base_zero() -> Iterator[None]:
    original = location.of_warp

    def at_zero(m, cfg, name, warp, bases):
        base, skew = original(m, cfg, name, warp, bases)
        return Const(0, len(base)), skew

    with mock.patch.object(location, "of_warp", at_zero):
        yield


BUGS = (
    Bug("bank_ram_ignores_lane_masks", _ram_ignores_masks),
    Bug("barrier_waits_for_no_warp", _barrier_of_one),
    Bug("scoreboard_misses_write_after_read", _no_write_after_read),
    Bug("lowest_write_back_port_wins", _lowest_port_first),
    Bug("every_warp_starts_at_place_zero", _every_warp_at_base_zero),
)


def verilog_with(bug: Bug, cfg: Config) -> str:
    """The baseline's Verilog, with probes, generated while the bug is in place."""
    with bug.patch():
        return SCHEMES["baseline"].verilog(cfg, probes=True)
