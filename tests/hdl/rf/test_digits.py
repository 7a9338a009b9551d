"""Division by the number of banks."""

import pytest

from warpfile.hdl.rf.digits import reciprocal


def is_quotient(bits, divisor, times, right):
    """Whether a product is the quotient of every number of so many bits, which is so if it is where that changes."""
    changes = range(divisor, 1 << bits, divisor)
    ends = (0, (1 << bits) - 1, *changes, *(number - 1 for number in changes))
    return all(number * times >> right == number // divisor for number in ends)


@pytest.mark.parametrize("bits", range(1, 18))
def test_a_product_with_a_constant_is_the_quotient(bits):
    """Of up to 128 banks of 1,024 rows, and of any number of rows."""
    assert all(is_quotient(bits, divisor, *reciprocal(bits, divisor)) for divisor in range(2, 129))


def test_a_product_for_fewer_bits_is_noticed():
    assert not is_quotient(17, 6, *reciprocal(8, 6))


def test_constants_are_small():
    """By 3, of six bits: 22 x 3 is 64 and 2, which 63 times is more than 64; 43 x 3 is 128 and 1, 63 times less."""
    assert reciprocal(6, 3) == (43, 7)
    assert reciprocal(8, 3) == (171, 9)
