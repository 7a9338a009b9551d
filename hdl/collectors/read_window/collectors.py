"""Collectors without units: a window in which beats read, and the say over what issues (docs/schemes/modern.md)."""

from amaranth import Module
from amaranth.lib import wiring

from warpfile.hdl.beat import needs_unit
from warpfile.hdl.collectors.contract import collector_members
from warpfile.hdl.collectors.read_window.guards import Guards
from warpfile.hdl.collectors.read_window.observed import observe
from warpfile.hdl.collectors.read_window.operands import join_operands
from warpfile.hdl.collectors.read_window.stages import (
    advance,
    dispatch,
    issue,
    make_stages,
    read,
    remember,
    tag,
)
from warpfile.hdl.collectors.write_back import store_all
from warpfile.hdl.probe import with_probes
from warpfile.spec.schemes.modern import ReadWindowConfig, window_probes
from warpfile.spec.trace import Kind


class ReadWindow(wiring.Component):
    """Control, Allocate, the window and the queues, over banks that grant every read.

    Ports: :func:`collector_members` and the probes of :func:`window_probes`. They guard every head beat, refuse the
    offered one in a freeze, prefer no warp, and have every result stored. There are no units: ``chosen`` is zero.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(collector_members(cfg), window_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """The stages in the order in which a beat passes them, then who may issue."""
        m = Module()
        cfg, offer = self._cfg, self.offer
        stages = make_stages(m, cfg)
        issue(m, cfg, self, stages, self.offer_valid & needs_unit(offer))
        advance(m, cfg, stages)
        tag(m, self, stages, self.offer_valid & stages.tick & (offer.kind == Kind.EXIT.value))
        read(m, cfg, self, stages)
        store_all(m, cfg, self)
        remember(m, self, stages)
        dispatch(m, cfg, self, stages)
        guards = Guards(m, cfg, self, stages)
        join_operands(m, cfg, self, stages)
        observe(m, cfg, self, stages, guards)
        return m
