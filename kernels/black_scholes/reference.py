"""Reference of ``black_scholes``: the formula in double precision, with the error function for the distribution."""

from math import erf, sqrt

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 128
RATE, VOLATILITY = 0.02, 0.3
SIZES = {"small": 500, "large": 2400}  # options

normal = np.vectorize(lambda x: 0.5 * (1 + erf(x / sqrt(2))))  #: share of the normal distribution under x


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    options = SIZES[size]
    rng = generator("black_scholes", size)
    price, strike, years = (
        (rng.random(options) * (high - low) + low).astype(np.float32)
        for low, high in ((5.0, 30.0), (1.0, 100.0), (0.25, 10.0))
    )
    s, k, t = (values.astype(np.float64) for values in (price, strike, years))
    spread = VOLATILITY * np.sqrt(t)
    d1 = (np.log(s / k) + (RATE + VOLATILITY**2 / 2) * t) / spread
    later = k * np.exp(-RATE * t)
    call = s * normal(d1) - later * normal(d1 - spread)
    put = later * normal(spread - d1) - s * normal(-d1)
    return Launch(
        grid=(-(-options // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("options", "i32", options),
            scalar("rate", "f32", RATE),
            scalar("volatility", "f32", VOLATILITY),
            buffer("price", price),
            buffer("strike", strike),
            buffer("years", years),
            output("call", call.astype(np.float32), rtol=1e-4, atol=1e-4),
            output("put", put.astype(np.float32), rtol=1e-4, atol=1e-4),
        ),
    )
