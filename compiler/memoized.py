"""Facts that many analyses ask of one instruction, function or graph, found once and kept with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Subject = TypeVar("Subject")
Fact = TypeVar("Fact")


def memoized(find: Callable[[Subject], Fact]) -> Callable[[Subject], Fact]:
    """A function of one frozen object that finds its result once per object, by identity.

    The result lives and dies with the object; a copy with other fields starts anew. Errors are not kept.
    """
    key = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def found(subject: Subject) -> Fact:
        memory = vars(subject)
        if key not in memory:
            memory[key] = find(subject)
        fact: Fact = memory[key]
        return fact

    return found
