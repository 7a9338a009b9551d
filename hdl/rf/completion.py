"""When results are in place."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import lowest_one
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


def complete(m: Module, cfg: Config, file: wiring.Component, cycles: int) -> None:
    """Tell the scoreboard of every result that is taken, ``cycles`` - 1 cycles later: that is how long a store takes.

    ``file`` has the ports of a register file (:func:`hdl.rf.contract.file_members`).
    """
    for port in range(cfg.write_ports):
        valid, record = _taken(file, port)
        for cycle in range(1, cycles):
            later = Signal(1, name=f"completing{port}_{cycle}")
            held = Signal(len(record), name=f"completion{port}_{cycle}", reset_less=True)
            m.d.sync += [later.eq(valid), held.eq(record)]
            valid, record = later, held
        m.d.comb += [file.completed[port].eq(valid), file.completion[port].eq(record)]


def complete_varying(m: Module, cfg: Config, file: wiring.Component, lengths: list[Value]) -> None:
    """The same where stores differ in length: ``lengths`` by port, ``bank_cycles`` for a result without a register.

    A completion that would meet an earlier one of its port comes in the next cycle that is free. That of the longest
    store always is.
    """
    longest = cfg.gives.cycles
    for port in range(cfg.write_ports):
        valid, record = _taken(file, port)
        length = Mux(file.results[port].writes, lengths[port], cfg.bank_cycles)
        # Bit k: something completes k cycles from now, and what.
        coming = Signal(longest - 1, name=f"completing{port}")
        records = [Signal(len(record), name=f"completion{port}_{k}", reset_less=True) for k in range(longest - 1)]
        free = Cat(~coming & Cat(length <= cycle + 1 for cycle in range(longest - 1)), Const(1, 1))
        starts = named(m, f"completes{port}", lowest_one(free) & valid.replicate(longest))
        m.d.sync += coming.eq((coming >> 1) | starts[1:])
        for cycle, held in enumerate(records):
            m.d.sync += held.eq(Mux(starts[cycle + 1], record, records[cycle + 1] if cycle + 2 < longest else record))
        m.d.comb += [
            file.completed[port].eq(coming[0] | starts[0]),
            file.completion[port].eq(Mux(coming[0], records[0], record)),
        ]


def _taken(file: wiring.Component, port: int) -> tuple[Value, Value]:
    valid = file.result_valid[port] & (file.result_accept[port] | ~file.result_store[port])
    return valid, Cat(file.results[port][name] for name in ("writes", "warp", "register", "tokens"))
