"""Figures of the page of ``ltrf`` that are computed from a curve."""

from __future__ import annotations

import pytest

from tests.compiler.passes.ltrf.harness import kernel
from warpfile.pages.evidence.ltrf import CYCLES, code_claims, tolerable
from warpfile.pages.evidence.reuse import Reuse
from warpfile.pages.evidence.study import Study


def test_a_loss_is_tolerated_up_to_where_the_line_between_two_latencies_has_it() -> None:
    curve = [1.0, 0.98, 0.90, 0.7, 0.3]
    # 5 % less lie at three eighths of the way from 0.98 to 0.90, that is from 5 to 9 cycles of 3.
    assert tolerable(curve, 0.05) == pytest.approx((5 + 4 * 3 / 8) / CYCLES[0])
    assert tolerable(curve, 0.01) == pytest.approx((3 + 2 / 2) / CYCLES[0])
    assert tolerable(curve, 0.10) == pytest.approx(9 / CYCLES[0])


def test_a_curve_that_does_not_fall_so_far_tolerates_the_slowest() -> None:
    assert tolerable([1.0, 1.01, 0.99, 0.98, 0.96], 0.05) == CYCLES[-1] / CYCLES[0]


def test_what_is_lost_and_won_again_was_lost() -> None:
    assert tolerable([1.0, 0.9, 1.0, 1.0, 1.0], 0.05) == pytest.approx(4 / CYCLES[0])


def test_claims_about_the_code_are_means_of_the_kernels_and_need_no_run() -> None:
    study = Study({}, ("collatz", "stencil"), lambda name: Reuse(kernel(name)))
    share, *grown = code_claims(study)
    assert (share.ours.mean, share.ours.half) == (1, 0)
    assert grown[0].ours.mean > grown[1].ours.mean > 0
