"""What the frame, the environment and the probes see of an operand stage, whatever the scheme."""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout, completion_layout, dispatch_layout, launch_layout, result_layout
from warpfile.spec.config import Config


def execution_members(cfg: Config) -> dict[str, wiring.Member]:
    """Ports between the operand stage and the execution units.

    ``dispatch``: one stream per execution port, with the operands in ``operands`` (slot-major, lane 0 lowest) in the
    same cycle. ``result``: one stream per write-back port, held until ready, with its data in ``result_data``.
    """
    slots = data.ArrayLayout(cfg.data_bits, cfg.source_slots)
    return {
        "dispatch": Out(stream.Signature(dispatch_layout(cfg))).array(cfg.ports),
        "operands": Out(slots).array(cfg.ports),
        "result": In(stream.Signature(result_layout(cfg))).array(cfg.ports),
        "result_data": In(cfg.data_bits).array(cfg.ports),
    }


def stage_members(cfg: Config) -> dict[str, wiring.Member]:
    """Ports of every operand stage (docs/architecture.md, section 4).

    launch_valid : In(1), launch : In(launch_layout(cfg))   The warp's base is known from the next cycle.
    heads : In(ArrayLayout), buffered : In(warps)   Next beat of every warp, read only.
    clear, waiting : In(warps)           The head beat has no hazard, the warp waits at a barrier; read only.
    room : Out(warps)                    The head beat of this warp would be taken.
    hold, prefer : Out(warps)            Warps that must not issue, warps to choose first.
    blocked : Out(warps)                 The head beat writes a register that an older beat has yet to read.
    offer_valid : In(1), offer : In(beat_layout(cfg)), offer_warp : In(warps)   The chosen beat, unit or not.
    accept : Out(1)                      It is taken in this cycle.
    collecting : Out(warps)              Some beat of the warp has not been dispatched.
    completed : Out(ports), completion : Out(ArrayLayout)   Results that are in place, for the scoreboard.
    chosen : Out(collectors) per port    Unit presented for dispatch, one-hot.
    places : In(ArrayLayout)             Warp of every place of the two-level scheduler, one-hot; only with that.
    release, released : In(active_warps), Out(active_warps)   Places to let go of, and those that are; only with that.
    See also :func:`execution_members`. Besides, a stage has an output for every probe of its own, by the probe's name.
    """
    places = {
        "places": In(data.ArrayLayout(cfg.warps, cfg.active_warps)),
        "release": In(cfg.active_warps),
        "released": Out(cfg.active_warps),
    }
    return {
        "launch_valid": In(1),
        "launch": In(launch_layout(cfg)),
        "heads": In(data.ArrayLayout(beat_layout(cfg), cfg.warps)),
        **{name: In(cfg.warps) for name in ("buffered", "clear", "waiting")},
        **{name: Out(cfg.warps) for name in ("room", "hold", "prefer", "collecting", "blocked")},
        "offer_valid": In(1),
        "offer": In(beat_layout(cfg)),
        "offer_warp": In(cfg.warps),
        "accept": Out(1),
        "completed": Out(cfg.ports),
        "completion": Out(data.ArrayLayout(completion_layout(cfg), cfg.ports)),
        "chosen": Out(cfg.collectors).array(cfg.ports),
        **(places if cfg.scheduler == "two_level" else {}),
        **execution_members(cfg),
    }
