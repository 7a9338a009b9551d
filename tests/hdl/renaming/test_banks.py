"""Which values the banks take, found beside them: the order of docs/schemes/corf.md, section 5, once more."""

from __future__ import annotations

import random

import pytest

import warpfile.hdl.renaming.banks as module
import warpfile.hdl.rf.read_side as reads
from tests.hdl.rf.packed.bench import config, run
from warpfile.hdl.renaming.banks import RenamedBanks


@pytest.mark.parametrize("others", [0, 2])
def test_a_value_is_taken_unless_something_comes_before_it_in_its_bank(others: int, monkeypatch) -> None:
    def unconnected(m, name, module, build, *, clocked=True):
        part = build()
        part._MustUse__used = True  # Amaranth warns of parts that are never elaborated
        return part.signature.create(path=(name,))

    for place in (module, reads):
        monkeypatch.setattr(place, "stamp", unconnected)
    cfg, rng = config("packing"), random.Random(others)
    part, outcomes = RenamedBanks(cfg, others), set()

    async def bench(ctx) -> None:
        for _ in range(500):
            stored, merged, stores, merges = [], [], [], []
            for client in range(others + cfg.write_ports):
                port = client - others
                where = (
                    [part.other_places[client]] * 2 if port < 0 else [part.store_places[port], part.merge_places[port]]
                )
                numbers = [rng.randrange(cfg.banks)] * 2 if port < 0 else [rng.randrange(cfg.banks) for _ in range(2)]
                for place, number in zip(where, numbers, strict=True):
                    ctx.set(place.bank, number)
                stored.append(numbers[0])
                merged.append(numbers[1])
                stores.append(rng.getrandbits(1))
                merges.append(rng.getrandbits(1))
            for name, bits in (("stores", stores), ("merges", merges)):
                ctx.set(getattr(part, name), sum(bit << at for at, bit in enumerate(bits[others:])))
                if others:
                    ctx.set(getattr(part, f"other_{name}"), sum(bit << at for at, bit in enumerate(bits[:others])))
            busy, taken = set(), 0
            # In a bank: values of ports, then rows that ports read, the last port first; the other clients behind them.
            ports, behind = range(len(stores) - 1, others - 1, -1), range(others - 1, -1, -1)
            order = [(True, port) for port in ports] + [(False, port) for port in ports]
            for stores_now, client in order + [(kind, other) for other in behind for kind in (True, False)]:
                wants, bank = (stores, stored) if stores_now else (merges, merged)
                if stores_now and wants[client] and bank[client] not in busy:
                    taken |= 1 << client
                busy |= {bank[client]} if wants[client] else set()
            seen = ctx.get(part.accept) << others
            seen |= ctx.get(part.other_accept) if others else 0
            assert seen == taken
            outcomes.update((bool(bit), bool(taken >> at & 1)) for at, bit in enumerate(stores))

    run(part, bench, clocked=False)
    assert outcomes == {(False, False), (True, False), (True, True)}
