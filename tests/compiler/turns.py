"""Which of many cases of one kind are run when: code of every kernel and source for every GPU is a thousand of them."""

import pytest

#: ``make check`` takes one case in so many. No divisor in common with the number of GPUs, so that these take turns.
TURN = 5


def in_turn(number: int) -> pytest.MarkDecorator:
    """The mark of a case: one in ``TURN`` is of ``make check``, the others are of ``make regress``."""
    return pytest.mark.regress if number % TURN else pytest.mark.check
