"""Parameters that every machine has, with the values that each may have; ``docs/machine.md`` has their meaning."""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.spec.config.fields import choice_field, name_field, number_field, power_field
from warpfile.spec.structure import FORMS

LINE_BYTES = 128
#: Execution port of every class of unit, by ``spec.trace.Port``, for each number of ports; NONE has none. Each line
#: divides what the line above has in one port.
PORTS = {
    1: (0, 0, 0, -1, 0, 0, 0),
    3: (0, 1, 2, -1, 0, 0, 0),
    4: (0, 2, 3, -1, 1, 1, 1),
    6: (0, 4, 5, -1, 1, 2, 3),
}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Fields of every configuration: one scheduling domain with its execution units and memory."""

    lanes: int = power_field(1, 32, "lanes of a warp that are built; control is the same for any number", 32)
    domains: int = number_field(1, 8, "domains of the SM, to which the warps of every CTA are dealt in turn", 1)
    domain: int = number_field(0, 7, "which of them this is: it runs the warps w mod domains of every CTA", 0)
    warps: int = number_field(1, 64, "warp slots", 8)
    ctas: int = number_field(1, 32, "CTAs that may be resident in the SM", 8)
    shared_bytes: int = number_field(0, 1 << 20, "shared memory of the SM in bytes", 65536)
    buffer_depth: int = number_field(1, 4, "instruction buffer entries per warp", 2)
    pending_entries: int = number_field(
        0, 32, "entries of a warp's scoreboard, each with the registers of one beat; 0: a bit per register name", 0
    )
    register_names: int = power_field(8, 256, "vector registers that an instruction can name", 256)
    register_unit: int = number_field(1, 16, "registers of a thread that are allocated at a time", 1)
    banks: int = number_field(1, 128, "register banks", 2)
    rows: int = power_field(2, 1024, "warp registers per bank", 256)
    bank_ports: str = choice_field(("1RW", "1R1W"), "ports of a bank", "1RW")
    bank_cycles: int = number_field(
        1, 32, "cycles a bank is busy per access; read data leave it so many cycles later", 1
    )
    bank_occupancy: str = choice_field(
        ("length", "one"),
        "how long an access keeps its bank, or its port: as long as it takes, or one cycle of a pipelined bank",
        "length",
    )
    bank_skew: str = choice_field(
        ("none", "warp", "row"), "what is added to a register's number to find its bank", "warp"
    )
    collectors: int = number_field(1, 32, "collector units", 4)
    source_slots: int = number_field(1, 8, "source registers that a beat can carry and a collector unit can hold", 3)
    collect: str = choice_field(("lowest", "one", "all"), "requests and fills of a collector unit per cycle", "lowest")
    bank_arbitration: str = choice_field(("round_robin", "oldest"), "which collector unit a bank serves", "round_robin")
    dispatch_arbitration: str = choice_field(
        ("round_robin", "oldest"), "which collector unit a port takes", "round_robin"
    )
    retake: str = choice_field(
        ("next", "same"), "when a collector unit can be taken again: the cycle after its dispatch, the same", "next"
    )
    storage: str = choice_field(
        FORMS, "what arrays of operands in windows, caching units and register caches are made of", "flip_flops"
    )
    clock_gating: str = choice_field(
        ("none", "arrays"),
        "which registers have a clock gate instead of an enable: arrays of operands and tables",
        "none",
    )
    scheduler: str = name_field(
        "which eligible warp issues: gto, lrr, oldest, two_level or one of another package", "gto"
    )
    active_warps: int = number_field(1, 64, "warps that may issue at a time under the two-level scheduler", 8)
    active_choice: str = choice_field(("greedy", "round_robin"), "which of them issues", "greedy")
    suspend: str = choice_field(
        ("pending", "outstanding", "strands", "always", "never"),
        "when a warp gives up its place: a marked beat needs a load that is out, any load is, the same at marked beats,"
        " at marked beats, never",
        "pending",
    )
    suspend_load: str = choice_field(
        ("always", "needed"),
        "when a warp that suspends for a load gives up its place: always, only if a ready warp needs it",
        "always",
    )
    suspend_barrier: str = choice_field(
        ("always", "needed"),
        "when a warp at a barrier gives up its place: always, only if a ready warp needs it",
        "always",
    )
    starved_after: int = number_field(
        1, 255, "cycles without a beat after which a warp gives up its place if a ready warp needs it", 32
    )
    resume: str = choice_field(
        ("head", "all"), "which loads a warp without a place waits for: those that its marked beat needs, all", "head"
    )
    long_from: str = choice_field(
        ("issue", "miss"), "when a load becomes one to leave for: at its issue, at the notice that it misses", "issue"
    )
    ports: int = choice_field(
        tuple(PORTS),
        "execution ports: one for all units; arithmetic, SFU and LSU; the same with ALU apart; one for each class",
        3,
    )
    write_back_ports: int = choice_field(
        tuple(PORTS), "write-back ports, divided among the units in the same way; no more than execution ports", 3
    )
    payload_bits: int = number_field(16, 128, "bits that travel from decode to dispatch untouched", 32)
    decode_order: str = choice_field(
        ("round_robin", "follow"),
        "which warp gets the next beat: in turn, or the one that issued last and otherwise the youngest",
        "round_robin",
    )
    branch_delay: int = number_field(0, 32, "cycles from a branch's dispatch to the decode of the warp's next beat", 4)
    alu_latency: int = number_field(1, 1024, "cycles from dispatch to the first write-back request", 4)
    alu_interval: int = number_field(1, 1024, "cycles between two dispatches", 1)
    fma_latency: int = number_field(1, 1024, "as alu_latency", 4)
    fma_interval: int = number_field(1, 1024, "as alu_interval", 1)
    double_latency: int = number_field(1, 1024, "as alu_latency", 20)
    double_interval: int = number_field(1, 1024, "as alu_interval", 8)
    tensor_latency: int = number_field(1, 1024, "as alu_latency", 16)
    tensor_interval: int = number_field(1, 1024, "as alu_interval", 16)
    sfu_latency: int = number_field(1, 1024, "as alu_latency", 20)
    sfu_interval: int = number_field(1, 1024, "as alu_interval", 4)
    lsu_interval: int = number_field(
        1, 1024, "cycles that 128 bytes of shared memory or cache keep the LSU's port: its share of the SM's LSU", 1
    )
    shared_latency: int = number_field(1, 1024, "shared memory and constant bank, as alu_latency", 24)
    texture_latency: int = number_field(1, 4096, "textures and surfaces, as alu_latency", 200)
    texture_interval: int = number_field(1, 1024, "as alu_interval", 4)
    hit_latency: int = number_field(1, 4096, "global and local memory, no sector waited for", 32)
    notice_latency: int = number_field(
        1, 4096, "from a load's dispatch to the notice that it misses; for textures always; only with long_from miss", 4
    )
    miss_latency: int = number_field(1, 4096, "from a sector's entry into the channel to its arrival", 400)
    sector_interval: int = number_field(1, 1024, "cycles between two sectors from beyond the cache", 1)
    sector_bytes: int = choice_field((32, 128), "what memory moves of a line of 128 bytes: a part, or all of it", 32)
    cache_lines: int = number_field(0, 4096, "128-byte lines of the cache; 0: every sector misses", 256)
    cache_ways: int = number_field(1, 256, "lines of a set of it", 4)
    cached: str = choice_field(
        ("all", "local"), "loads that it is for: of global and local memory, of local only", "all"
    )
    l1_banks: int = number_field(1, 32, "banks of the SM's cache, to which sectors go in turn", 1)
    mshrs: int = number_field(0, 4096, "sectors in flight that the cache can keep track of; 0: all", 0)
    mshr_merges: int = number_field(0, 1024, "accesses that can wait for one of them; 0: all", 0)
    stores: str = choice_field(
        ("back", "through", "around"),
        "stores write back and fetch what is missing, write through and leave it in the cache, or only write through",
        "back",
    )
    uniform_latency: int = number_field(1, 1024, "cycles from issue to token release beside the operand stage", 6)
    port_queue: int = number_field(
        0, 16, "dispatched beats that may wait behind an execution port until their unit can start them", 0
    )
    result_queue: int = number_field(1, 64, "results waiting at a write-back port from which on its unit stalls", 2)
