"""Ports of every warp scheduler (docs/slots/scheduler.md)."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.spec.config import Config

#: What a scheduler with places must know of the warps in addition to their eligibility: first what the frame has a name
#: for.
FRAME_INPUTS = ("resident", "buffered", "waiting", "collecting")
WARP_INPUTS = (*FRAME_INPUTS, "barrier_released", "marked", "touches_long", "short_pending")


def sees_exits(cfg: Config) -> bool:
    """Whether a scheduler with places asks if a head beat is an EXIT."""
    return cfg.suspend in ("outstanding", "strands")


def warp_inputs(cfg: Config) -> tuple[str, ...]:
    """:data:`WARP_INPUTS` and what only some settings ask for."""
    at_exit = ("at_exit",) if sees_exits(cfg) else ()
    return (*WARP_INPUTS, *(("outstanding",) if cfg.sees_outstanding else ()), *at_exit)


def observed_places(cfg: Config) -> dict[str, wiring.Member]:
    """Outputs for the probes: state and events of the places and of the warps that wait for one."""
    names = ("placed", "draining", "releasing", "suspend_long", "suspend_barrier", "suspend_starved")
    return {
        **{name: Out(cfg.active_warps) for name in names},
        "current": Out(cfg.place_count_bits),
        **{name: Out(cfg.warps) for name in ("ready", "activate")},
    }


def place_members(cfg: Config) -> dict[str, wiring.Member]:
    """Additional ports of a scheduler with places.

    resident, buffered, waiting, collecting : In(warps)   As in the frame.
    barrier_released : In(warps)     Waits in this cycle for the last time.
    marked, touches_long : In(warps) Of the head beat, whether there is one or not.
    short_pending : In(warps)        A register is pending that is not long.
    outstanding : In(warps)          Some pending register is long; only with ``resume`` = ``all``.
    at_exit : In(warps)              Of the head beat, whether there is one or not; only with ``suspend`` =
                                     ``outstanding`` or ``strands``.
    released : In(active_warps)      The register file lets go of a place that is releasing.
    open : In(warps)                 Warps that are eligible except for their hazards and their place.
    runs : Out(warps)                Those of them that hold an active place and do not suspend, unless a hazard keeps
                                     them anyway: without one, they are eligible.
    places : Out(ArrayLayout)        Warp of each place, one-hot; zero if free.
    placed, draining, releasing : Out(active_warps), current : Out(place_count_bits)   State.
    suspend_long, suspend_barrier, suspend_starved : Out(active_warps)   Places that start to drain in this cycle, by
                                     reason: a load, a barrier, no beat for ``starved_after`` cycles.
    ready, activate : Out(warps)     Warps that wait for a place, and the one that gets one.
    """
    return {
        **{name: In(cfg.warps) for name in warp_inputs(cfg)},
        "released": In(cfg.active_warps),
        "open": In(cfg.warps),
        "runs": Out(cfg.warps),
        "places": Out(data.ArrayLayout(cfg.warps, cfg.active_warps)),
        **observed_places(cfg),
    }


def lookahead_members(cfg: Config) -> dict[str, wiring.Member]:
    """Additional ports of a scheduler with ``gives.lookahead``.

    lookahead_hit : In(warps)    The file says that the warp's next load is there; one-hot, for one cycle, registered.
    shareable : In(warps)        Of the head beat, whether there is one or not: a load that may be shared.
    flagged : Out(warps)         Warps of which that was said.
    """
    return {**{name: In(cfg.warps) for name in ("lookahead_hit", "shareable")}, "flagged": Out(cfg.warps)}


def rank_members(cfg: Config) -> dict[str, wiring.Member]:
    """Additional ports of a scheduler with ``gives.ranks``; both are registered state of the register file.

    owners : In(warps)           Warps that own what they share with another warp.
    sharers : In(warps)          Warps in a slot with a partner that do not own what they share.
    """
    return {name: In(cfg.warps) for name in ("owners", "sharers")}


def scheduler_members(cfg: Config) -> dict[str, wiring.Member]:
    """Ports that every warp scheduler has.

    eligible : In(warps)         Warps that may issue; only preferred ones if any is.
    grant : Out(warps)           The chosen one, one-hot; zero if no warp is eligible.
    taken : In(1)                It issues; only then a pointer moves.
    launch, exit : In(warps)     A warp comes, a warp ends; one-hot.

    ``grant`` is one-hot among ``eligible`` in the same cycle, zero if none is. ``taken``: the granted warp issues.
    ``launch`` and ``exit`` are one-hot warp slots.
    """
    return {
        "eligible": In(cfg.warps),
        "taken": In(1),
        "launch": In(cfg.warps),
        "exit": In(cfg.warps),
        "grant": Out(cfg.warps),
    }
