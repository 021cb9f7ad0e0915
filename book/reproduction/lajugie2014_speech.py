"""Lajugie 2014, Table 1 on a stand-in: speech in which the speaker changes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from book.reproduction.lajugie2014_watch import METHODS1, loss_of, noise_columns
from book.reproduction.units import Unit
from mlbook._arrays import Floats, Integers
from mlbook.datasets import load_vowels

SPEECH_NOISE = 48  # columns
SPEECH_STREAMS = {"speech": slice(0, 12), "noise": slice(0, 12 + SPEECH_NOISE)}


def speech_units(scale: str) -> list[Unit]:
    """Every method with and without noise columns, on every random order of the recordings."""
    return [
        {"row": row, "seed": seed, "stream": stream}
        for seed in range({"smoke": 1, "book": 2, "full": 20}[scale])
        for stream in SPEECH_STREAMS
        for row in METHODS1
        if scale != "smoke" or stream == "speech" or row == METHODS1[0]
    ]


@lru_cache(maxsize=1)
def _speech_data(seed: int) -> tuple[list[Floats], list[Integers]]:
    """Return centred sequences in one random order, noise columns appended."""
    series, labels = load_vowels(random_state=seed)
    rng = np.random.default_rng(seed)
    noisy = [
        np.hstack([x, noise_columns(len(x), SPEECH_NOISE, int(y[-1]) + 1, rng)])
        for x, y in zip(series, labels, strict=True)
    ]
    return [x - x.mean(axis=0) for x in noisy], labels


def run_speech(unit: Unit) -> dict[str, float]:
    """Learn from 4 sequences, choose on 3, test on 3."""
    series, labels = _speech_data(unit["seed"])
    columns = SPEECH_STREAMS[unit["stream"]]
    return {unit["stream"]: loss_of(unit["row"], [x[:, columns] for x in series], labels)}
