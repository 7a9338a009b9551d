"""When results are in place."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring

from warpfile.spec.config import Config


def complete(m: Module, cfg: Config, file: wiring.Component, cycles: int) -> None:
    """Tell the scoreboard of every result that is taken, ``cycles`` - 1 cycles later: that is how long a store takes.

    ``file`` has the ports of a register file (:func:`hdl.rf.contract.file_members`).
    """
    for port in range(cfg.ports):
        valid = file.result_valid[port] & (file.result_accept[port] | ~file.result_store[port])
        record = Cat(file.results[port][name] for name in ("writes", "warp", "register", "tokens"))
        for cycle in range(1, cycles):
            later = Signal(1, name=f"completing{port}_{cycle}")
            held = Signal(len(record), name=f"completion{port}_{cycle}", reset_less=True)
            m.d.sync += [later.eq(valid), held.eq(record)]
            valid, record = later, held
        m.d.comb += [file.completed[port].eq(valid), file.completion[port].eq(record)]
