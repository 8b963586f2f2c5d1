"""What all tests share: hypothesis profiles and the reference data."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Test modules import the oracle and the strategies as `tests.oracle` and `tests.strategies`.
sys.path.insert(0, str(Path(__file__).parents[1]))

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

# `quick` repeats the same examples on every run, so that a red run is red for all; `long` looks further
# (HYPOTHESIS_PROFILE=long) and remembers what it found. No deadline: the machines that run this share cores.
settings.register_profile(
    "quick", max_examples=30, derandomize=True, database=None, deadline=None, suppress_health_check=_QUIET
)
settings.register_profile(
    "long", max_examples=3000, deadline=None, print_blob=True, suppress_health_check=_QUIET
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data (exact vectors, trained models, data sets), from FAIRBOX_SHARED."""
    folder = os.environ.get("FAIRBOX_SHARED")
    if not folder:
        pytest.skip("FAIRBOX_SHARED is not set: no reference data")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"FAIRBOX_SHARED={folder} is not a folder")
    return path
