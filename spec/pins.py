"""Rules for the driver of the pins of a machine (docs/machine.md, section 2), as a checker names it."""

from __future__ import annotations

from warpfile.spec.config import Config

#: Rules by name, each with what it means to break it.
RULES = {
    "decode_room": "a beat is sent to a warp whose bit of decode_ready is clear, and is lost",
    "decode_slot": "a beat is sent to a slot that holds no warp",
    "launch_slot": "a warp is launched onto a slot that has not been given back",
    "launch_cta": "a warp is launched into a CTA of which a warp has been sent a beat",
    "launch_held": "a launch changes before it is taken",
    "result_held": "a result changes before it is taken",
    "kernel_held": "a kernel changes before it is taken",
    "missed_slot": "a load is said to miss for a slot that holds no warp",
    "result_asked": "a result comes for a register that no beat waits for",
    "result_record": "mask, full, component or hints of a result are not those of its beat",
    "result_origin": "a result of a long beat does not come from hit or miss, or one of another beat does",
    "missed_asked": "a load is said to miss for a register that no beat waits for",
}


def rules(cfg: Config) -> tuple[str, ...]:
    """Names of the rules that a machine's pins have."""
    # A load that the file absorbs gets no result, and the pins do not say which one that is.
    unknown = cfg.gives.absorbs
    absent = {
        "kernel_held": not cfg.gives.kernel,
        "missed_slot": not cfg.sees_misses,
        "result_asked": unknown,
        "result_record": unknown,
        "result_origin": unknown or not {"long", "origin"} <= {*cfg.decode_flags, *cfg.result_flags},
        "missed_asked": unknown or not cfg.sees_misses,
    }
    return tuple(name for name in RULES if not absent.get(name))
