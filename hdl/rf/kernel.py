"""When a register file takes a kernel: what all files with ``gives.kernel`` have in common."""

from amaranth import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import kernel_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members
from warpfile.spec.config import Config


def kernel_members(cfg: Config) -> Members:
    """Ports of a part that starts kernels.

    kernel_valid : In(1), kernel : In(kernel_layout(cfg)), kernel_ready : Out(1)   A kernel, and whether it is taken.
    taken : Out(1)                     A kernel is taken in this cycle.
    launch_valid : In(1), launch_ready : Out(1)   A warp, and whether it is taken.
    exits : In(warps)                  One-hot, the warp whose EXIT issues.
    """
    return {
        "kernel_valid": In(1),
        "kernel": In(kernel_layout(cfg)),
        "kernel_ready": Out(1),
        "taken": Out(1),
        "launch_valid": In(1),
        "launch_ready": Out(1),
        "exits": In(cfg.warps),
    }


def join_kernel(m: Module, file: wiring.Component, part: wiring.Component) -> None:
    """Join a register file, in which nothing is ever under way, with its part that starts kernels."""
    inputs, outputs = ("kernel_valid", "kernel", "launch_valid", "exits"), ("kernel_ready", "launch_ready")
    m.d.comb += [getattr(part, name).eq(getattr(file, name)) for name in inputs]
    m.d.comb += [getattr(file, name).eq(getattr(part, name)) for name in outputs]
    m.d.comb += file.quiet.eq(1)


def no_warp_resident(m: Module, cfg: Config, part: wiring.Component) -> Value:
    """Whether no warp is resident; ``part`` has :func:`kernel_members`."""
    count = Signal(range(cfg.warps + 1), name="residents")
    m.d.sync += count.eq(count + part.launch_valid - part.exits.any())
    return named(m, "empty", count == 0)
