"""Arrays of operands in the form that the configuration asks for (docs/area.md, *Arrays of operands*)."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth import Cat, ClockSignal, Instance, Module, Mux, Signal, Value

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.clock_gate import CLOCK_GATE_TEXT, take
from warpfile.hdl.naming import named
from warpfile.hdl.stamp import TEST, TEST_ENABLE, note_module
from warpfile.spec.config import Config
from warpfile.spec.structure import CLOCK_GATE, LATCHES, WORD_BITS

#: Entries that take a word at the end of the cycle, one-hot or none, and the word.
Write = tuple[Sequence[Value], Value]

#: One word of latches.
LATCHES_TEXT = f"""\
// One word of an array of operands: 32 latches behind an integrated clock gate.
// After a cycle with enable the word is what data holds, from a register that changes at the end of that cycle.
// A library's clock gate and latches may take its place; simulators see the same without races.
module {LATCHES} (
  input                 clk,
  input                 enable,
  input                 {TEST_ENABLE},
  input  [31:0]  data,
  output [31:0]  word
);
`ifdef SYNTHESIS
  wire gated_clk;
  reg [31:0] held;
  {CLOCK_GATE} gate (
    .clk(clk),
    .enable(enable),
    .{TEST_ENABLE}({TEST_ENABLE}),
    .gated_clk(gated_clk)
  );
  always @* if (gated_clk) held = data;
  assign word = held;
`else
  reg open;
  reg [31:0] held;
  always @(posedge clk) open <= enable | {TEST_ENABLE};
  always @(negedge clk) if (open) held <= data;
  assign word = open ? data : held;
`endif
endmodule
"""
_MEMORY = """\
// One lane of an array of operands: {rows} words of 32 bits, {reads} read ports and {writes} write ports.
// Word lines are one-hot or zero. A read gives, in its cycle, what its row holds at the start of it, or else zero.
// A write counts at the rising edge that ends its cycle. No row is written by two ports. Contents are not reset.
module {name} (
  input                 clk,
{ports}
);
  reg [31:0] rows [0:{last}];
  always @(posedge clk) begin
{body}  end
{outputs}endmodule
"""


def operand_array(
    m: Module, cfg: Config, module: str, name: str, writes: Sequence[Write], reads: Sequence[Value]
) -> list[Value]:
    """One lane of an array: what it holds at the start of the cycle, per entry that is read, one-hot; zero for none.

    ``module`` is what it is called as a memory, ``name`` followed by a number an entry. Of two writes to one entry the
    first one counts.
    """
    if cfg.storage == "memory":
        return _memory(m, module, f"{name}_array", writes, reads)
    words = _latches(m, name, writes) if cfg.storage == "latches" else _flip_flops(m, cfg, name, writes)
    return [select(chosen, words) for chosen in reads]


def _flip_flops(m: Module, cfg: Config, name: str, writes: Sequence[Write]) -> list[Value]:
    words: list[Value] = []
    for entry in range(len(writes[0][0])):
        word = Signal(WORD_BITS, name=f"{name}{entry}", reset_less=True)
        take(m, cfg, word.name, [word], *((chosen[entry], [value]) for chosen, value in writes))
        words.append(word)
    return words


def _latches(m: Module, name: str, writes: Sequence[Write]) -> list[Value]:
    """A register per write port, whose word the latches of an entry let through in the next cycle."""
    note_module(LATCHES, LATCHES_TEXT)
    note_module(CLOCK_GATE, CLOCK_GATE_TEXT)
    staged = [_staged(m, f"array_in{number}", *write) for number, write in enumerate(writes)]
    return [_latched(m, f"{name}{entry}", entry, writes, staged) for entry in range(len(writes[0][0]))]


def _staged(m: Module, name: str, chosen: Sequence[Value], value: Value) -> Value:
    word = Signal(WORD_BITS, name=name, reset_less=True)
    with m.If(Cat(chosen).any()):
        m.d.sync += word.eq(value)
    return word


def _latched(m: Module, name: str, entry: int, writes: Sequence[Write], staged: Sequence[Value]) -> Value:
    word, data = Signal(WORD_BITS, name=name), staged[-1]
    for number in reversed(range(len(writes) - 1)):
        taken = Signal(name=f"array_in{number}_{name}", reset_less=True)
        m.d.sync += taken.eq(writes[number][0][entry])
        data = named(m, f"{name}_data", Mux(taken, staged[number], data))
    m.submodules[f"{name}_latches"] = Instance(
        LATCHES,
        i_clk=ClockSignal(),
        i_enable=named(m, f"{name}_enable", any_of(chosen[entry] for chosen, _ in writes)),
        **{f"i_{TEST_ENABLE}": ClockSignal(TEST)},
        i_data=data,
        o_word=word,
    )
    return word


def _memory(m: Module, module: str, name: str, writes: Sequence[Write], reads: Sequence[Value]) -> list[Value]:
    rows = len(writes[0][0])
    note_module(module, _memory_verilog(module, rows, len(reads), len(writes)))
    ports: dict[str, Value] = {}
    for number, (chosen, value) in enumerate(writes):
        ports |= {f"i_write_row{number}": Cat(chosen), f"i_write_data{number}": value}
    found = [Signal(WORD_BITS, name=f"{name}_read{number}") for number in range(len(reads))]
    for number, (chosen, word) in enumerate(zip(reads, found, strict=True)):
        ports |= {f"i_read_row{number}": chosen, f"o_read_data{number}": word}
    m.submodules[name] = Instance(module, i_clk=ClockSignal(), **ports)
    return list(found)


def _memory_verilog(name: str, rows: int, reads: int, writes: int) -> str:
    lines = f"[{rows - 1}:0]"
    ports = [f"  input  {lines}  write_row{port},\n  input  [31:0]  write_data{port}" for port in range(writes)]
    ports += [f"  input  {lines}  read_row{port},\n  output [31:0]  read_data{port}" for port in range(reads)]
    body = "".join(
        f"    if (write_row{port}[{row}]) rows[{row}] <= write_data{port};\n"
        for row in range(rows)
        for port in reversed(range(writes))
    )
    outputs = "".join(f"  assign read_data{port} = {_or_of(port, rows)};\n" for port in range(reads))
    return _MEMORY.format(
        name=name,
        rows=rows,
        reads=reads,
        writes=writes,
        last=rows - 1,
        ports=",\n".join(ports),
        body=body,
        outputs=outputs,
    )


def _or_of(port: int, rows: int) -> str:
    terms = (f"({{32{{read_row{port}[{row}]}}}} & rows[{row}])" for row in range(rows))
    return "\n    | ".join(terms)
