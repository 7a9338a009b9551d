"""What the files with a renaming table join alike."""

from amaranth import Module, Value
from amaranth.lib import wiring

from warpfile.hdl.renaming.completions import Completions
from warpfile.hdl.renaming.kernel_state import KernelState
from warpfile.hdl.renaming.sweep import Sweep
from warpfile.hdl.renaming.table import RenamingTable
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.renamed import RenamedConfig


def start_kernels(
    m: Module, cfg: RenamedConfig, file: wiring.Component, table: RenamingTable, idle: Value | None = None
) -> tuple[KernelState, Sweep]:
    """Kernels, and the sweep after their warps. ``idle``: nothing else keeps a kernel from being taken.

    What is yet to be joined: when the sweep gives up what it holds.
    """
    m.submodules.kernel_state = kernel = KernelState(cfg)
    m.submodules.sweep = sweep = Sweep(cfg)
    inputs, outputs = ("kernel_valid", "kernel", "launch_valid", "exits"), ("kernel_ready", "launch_ready")
    m.d.comb += [getattr(kernel, name).eq(getattr(file, name)) for name in inputs]
    m.d.comb += [getattr(file, name).eq(getattr(kernel, name)) for name in outputs]
    clean = ~sweep.swept.any()
    m.d.comb += [
        kernel.clean.eq(clean if idle is None else clean & idle),
        sweep.exits.eq(file.exits),
        table.begins.eq(sweep.begins),
        sweep.mapped.eq(table.left),
        table.sweeps.eq(sweep.reads),
        table.sweep_warp.eq(sweep.warp),
        table.sweep_register.eq(sweep.register_name),
        sweep.served.eq(table.swept),
        sweep.entry.eq(table.sweep_entry),
        file.retired.eq(sweep.retired),
        file.swept.eq(sweep.swept),
        file.sweep_register.eq(sweep.register_name),
        file.sweep_held.eq(sweep.held),
        file.sweep_read.eq(sweep.served),
        file.sweep_free.eq(sweep.held & sweep.frees),
    ]
    if cfg.gives.deaths:
        m.d.comb += [
            table.dies.eq(file.death_valid),
            table.dead_warp.eq(file.death_warp),
            table.dead_register.eq(file.death_register),
            table.unmaps.eq(file.death_ready),
            sweep.kill_waits.eq(file.death_valid & ~file.death_ready),
            file.killed.eq(file.death_ready),
        ]
    if cfg.has_places:
        m.d.comb += file.released.eq(file.release)
    return kernel, sweep


def look_up(m: Module, cfg: RenamedConfig, file: wiring.Component, table: RenamingTable, locate: Value) -> None:
    """Sources of the units, those in ``locate``, and of the offered beat."""
    m.d.comb += table.locate.eq(locate)
    same = ("locate_warps", "locate_registers", "older", *(("allocate",) if cfg.asks.sources else ()))
    m.d.comb += [getattr(table, name).eq(getattr(file, name)) for name in same]
    if cfg.asks.sources:
        m.d.comb += [
            table.offer_warp.eq(file.offer.warp),
            table.offer_valid.eq(file.offer.source_valid),
            table.offer_registers.eq(file.offer.sources),
        ]
    m.d.comb += [file.looked_up.eq(table.looked_up), file.located_mapped.eq(table.located_mapped)]


def complete_stores(
    m: Module, cfg: RenamedConfig, file: wiring.Component, number: int, stored: Value, completion: Value
) -> wiring.PureInterface:
    """The queue of completions of one port, of which W1 is ``stored`` or not. What it shows is yet to be joined."""
    queue = stamp(m, f"completions{number}", "completions", lambda: Completions(cfg))
    result = file.results[number]
    m.d.comb += [
        queue.stored.eq(stored),
        queue.store.eq(completion),
        queue.taken.eq(file.result_valid[number] & ~file.result_store[number]),
        queue.late.eq(result.writes),
        *(queue.result[name].eq(result[name]) for name in ("writes", "warp", "register", "tokens")),
    ]
    return queue
