"""Results of collectors that keep no register from its bank."""

from amaranth import Module
from amaranth.lib import wiring

from warpfile.spec.config import Config


def store_all(m: Module, cfg: Config, collectors: wiring.Component) -> None:
    """The register file has to store every result that has a register; its acceptance is that of the port."""
    for port in range(cfg.write_ports):
        result = collectors.result[port]
        m.d.comb += [
            collectors.result_valid[port].eq(result.valid),
            collectors.result_store[port].eq(result.valid & result.payload.writes),
            result.ready.eq(collectors.result_accept[port] | ~result.payload.writes),
        ]
