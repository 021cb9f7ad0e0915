"""Figures of the chapter on the latent CRF and of its appendix; here, what other pages use."""

from book.figures.latent_crf.enumerated import is_consistent
from book.figures.latent_crf.learners import (
    one_step_in_fitting_units,
    single_steps,
    steps_compared,
)
from book.figures.latent_crf.programs import augmented_minimum
from book.figures.latent_crf.votes import climb, last_move, three_points
from mlbook.latent_crf import ExemplarProblem

__all__ = [
    "ExemplarProblem",
    "augmented_minimum",
    "climb",
    "is_consistent",
    "last_move",
    "one_step_in_fitting_units",
    "single_steps",
    "steps_compared",
    "three_points",
]
