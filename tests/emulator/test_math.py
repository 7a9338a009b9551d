"""The CUDA math library as nvcc compiles it, against NumPy and the C library, over edge values.

Bounds are those of the CUDA programming guide's table of errors, rounded up to one bound for all functions but tgamma;
what the guide calls exact is compared bit by bit, zeros with their signs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.compiled.launching import last_buffer

Function = Callable[..., float]
INF, NAN = math.inf, math.nan
ULPS = 4.0
ULPS_OF = {"tgamma": 10.0}
#: Absolute errors where the reference itself is no better: near the zeros of lgamma, in the tail of normcdf.
LOOSE = {"lgamma": 1e-15, "normcdf": 1e-15}
LOOSE_F = {"lgamma": 4e-7}

SHARED = [
    *(0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 5.5, 6.5, 7.0, 10.0, 13.0, 25.5, 33.0, 88.0, 89.0, 100.0),
    *(104.0, 126.0, 127.0, 128.0, 170.5, 171.7, 708.0, 709.0, 710.0, 745.0, 1000.0, 1024.0, 1074.0, 123456.789),
    *(105615.0, 105615.5, 105616.0, 1e6, 1e7, 2.0**31, 1e15, 1e-3, 1e-10, 0.9999999, 1.0000001),
    *(math.pi, math.pi / 2, math.pi / 4, math.e, 0.0, INF, NAN),
]
SINGLE = [1.1754944e-38, 1e-38, 1e-40, 1.4e-45, 3.4028235e38, 1e38, 1e30, 1e20, 2.0**23, 2.0**24, 1e35, 0.99999994]
DOUBLE = [
    *(2.2250738585072014e-308, 1e-310, 5e-324, 1.7976931348623157e308, 1e308, 1e300, 1e200, 1e100, 1e22, 2.0**53),
    *(2.0**31 + 1, 1e16, 1e-300, 1 - 2.0**-53),
]


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.copysign(INF, x)
    except ValueError:
        return math.copysign(INF, x) if x == 0 else NAN


def _log_gamma(x: float) -> float:
    if abs(x) == INF or (x <= 0 and x == math.floor(x)):
        return INF
    return INF if x > 1e306 else math.lgamma(x)


def _of_half_turns(x: float, quarter: int) -> float:
    """sin(pi x), or cos(pi x) for ``quarter`` 1, by exact reduction; zeros as the guide says."""
    rest = math.fmod(x, 2.0)
    turn = round(2 * rest)
    angle = math.pi * (rest - turn / 2)
    value = (math.sin(angle), math.cos(angle), -math.sin(angle), -math.cos(angle))[(turn + quarter) % 4]
    return value or (0.0 if quarter else math.copysign(0.0, x))


def _logb(x: float) -> float:
    return -INF if x == 0 else abs(x) if not math.isfinite(x) else float(math.frexp(x)[1] - 1)


def _remainder(x: float, y: float) -> float:
    return NAN if math.isinf(x) or y == 0 or x != x or y != y else math.remainder(x, y)


def _each(function: Function) -> Callable[..., np.ndarray]:
    """A scalar function on arrays; NaN where it has no value."""

    def value(*x: float) -> float:
        try:
            return function(*x)
        except ValueError:
            return NAN

    return np.vectorize(value, otypes=[np.float64])


def _rounded(x: np.ndarray) -> np.ndarray:
    """Halves away from zero."""
    whole = np.floor(np.abs(x))
    return np.where(np.isfinite(x), np.copysign(whole + (np.abs(x) - whole >= 0.5), x), x)


EXACT: dict[str, Callable[..., np.ndarray]] = {
    **{name: getattr(np, name) for name in ("ceil", "fabs", "floor", "rint", "trunc", "sqrt")},
    **{name: getattr(np, name) for name in ("copysign", "fmax", "fmin", "fmod", "nextafter", "divide")},
    "nearbyint": np.rint,
    "round": _rounded,
    "logb": _each(_logb),
    "reciprocal": lambda x: 1 / x,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x) | np.isnan(y), NAN, 0)),
    "remainder": _each(_remainder),
}
OVER = {"3": 3.0, "7": 7.0, "13": 13.0, "tenth": 0.1, "huge": 1.5e308, "tiny": 3e-308}
EXACT |= {f"over_{name}": lambda x, by=value: x / by for name, value in OVER.items()}
CLOSE: dict[str, Callable[..., np.ndarray]] = {
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh", "tan2")},
    **{name: getattr(np, name) for name in ("cbrt", "cos", "cosh", "exp", "exp2", "expm1", "log", "log10", "log1p")},
    **{name: getattr(np, name) for name in ("log2", "sin", "sinh", "tan", "tanh", "hypot")},
    "exp10": lambda x: np.power(np.longdouble(10), x).astype(np.float64),
    "pow": np.power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "rhypot": lambda x, y: (1 / np.hypot(x.astype(np.longdouble), y)).astype(np.float64),
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "normcdf": _each(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
    "tgamma": _each(_gamma),
    "lgamma": _each(_log_gamma),
    "sinpi": _each(lambda x: _of_half_turns(x, 0)),
    "cospi": _each(lambda x: _of_half_turns(x, 1)),
}
BINARY = frozenset("atan2 copysign divide fdim fmax fmin fmod hypot nextafter pow remainder rhypot".split())
KERNELS = [(name, kind) for name in sorted(EXACT | CLOSE) for kind in "fd" if kind == "d" or "over" not in name]


def _inputs(name: str, dtype: type) -> tuple[np.ndarray, ...]:
    """Every edge value with both signs, in pairs for functions of two arguments."""
    values = np.array(SHARED + (SINGLE if dtype is np.float32 else DOUBLE))
    values = np.concatenate([values, -values]).astype(dtype)
    if name not in BINARY:
        return (values,)
    chosen = np.random.default_rng(1).permutation(len(values) ** 2)[:1024]
    return values[chosen // len(values)], values[chosen % len(values)]


def _ulps(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Distance in units of the last place; infinite between a number and NaN or between zeros of both signs."""
    width = np.int32 if found.dtype == np.float32 else np.int64
    lowest = int(np.iinfo(width).min)
    places = [
        np.array([bits if bits >= 0 else lowest - bits for bits in array.view(width).tolist()], dtype=object)
        for array in (found, wanted)
    ]
    distance = np.abs(places[0] - places[1]).astype(np.float64)
    distance[np.isnan(found) != np.isnan(wanted)] = INF
    distance[(found == 0) & (wanted == 0) & (np.signbit(found) != np.signbit(wanted))] = INF
    distance[np.isnan(found) & np.isnan(wanted)] = 0
    return distance


def _wrong(name: str, found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    loose = (LOOSE_F if found.dtype == np.float32 else LOOSE).get(name)
    bad = _ulps(found, wanted) > (0 if name in EXACT else ULPS_OF.get(name, ULPS))
    if loose is not None:
        bad &= ~(np.abs(found - wanted) <= loose)
    return np.flatnonzero(bad)


@pytest.mark.parametrize(("name", "kind"), KERNELS)
def test_function(name: str, kind: str) -> None:
    dtype = np.float32 if kind == "f" else np.float64
    inputs = _inputs(name, dtype)
    threads = min(1024, len(inputs[0]))
    found = last_buffer("math", f"{name}_{kind}", [*inputs, np.zeros(threads, dtype)], threads)[:threads]
    with np.errstate(all="ignore"):
        reference = (EXACT | CLOSE)[name]
        exact = name in ("nextafter", "divide", "reciprocal")  # in the precision of the operands
        wanted = np.asarray(reference(*(x if exact else x.astype(np.float64) for x in inputs))).astype(dtype)
        wrong = _wrong(name, found, wanted)
    assert not len(wrong), [(*(x[n] for x in inputs), found[n], wanted[n]) for n in wrong[:5]]


def test_the_bound_is_tight() -> None:
    """Control: results that are five units off, of the wrong sign or no number are found."""
    one = np.array([1.0, 0.0, 2.0])
    assert _wrong("sin", one * (1 + 5 * 2.0**-52), one).tolist() == [0, 2]
    assert _wrong("sqrt", np.array([1.0, -0.0, NAN]), one).tolist() == [1, 2]
