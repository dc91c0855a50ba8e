"""Parameters that are changed after a fit: used as they can be, or refused; never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trustream import BernoulliMixture, GaussianMixture, LatentDirichletAllocation

RNG = np.random.default_rng(0)
DATA = {
    LatentDirichletAllocation: RNG.poisson(1.0, (60, 8)),
    BernoulliMixture: (RNG.random((60, 5)) < 0.4).astype(float),
    GaussianMixture: RNG.normal(size=(60, 3)),
}
each_class = pytest.mark.parametrize("cls", DATA, ids=lambda cls: cls.__name__)
CALLS = ("partial_fit", "transform", "score", "elbo")


def fitted(cls: Any, **options: Any) -> Any:
    return cls(3, random_state=0, **options).fit(DATA[cls])


@each_class
@pytest.mark.parametrize("n_components", [2, 40])
@pytest.mark.parametrize("call", CALLS)
def test_another_number_of_components_is_refused(cls: Any, n_components: int, call: str) -> None:
    model = fitted(cls).set_params(n_components=n_components)
    with pytest.raises(ValueError, match=r"fitted with other parameters .*: change them back, or"):
        getattr(model, call)(DATA[cls])
    model.set_params(n_components=3)
    getattr(model, call)(DATA[cls])


@pytest.mark.parametrize("cls", [LatentDirichletAllocation, BernoulliMixture])
@pytest.mark.parametrize("types", [("float64", "float32"), ("float32", "float64")])
@pytest.mark.parametrize("call", CALLS)
def test_another_type_is_refused(cls: Any, types: tuple[str, str], call: str) -> None:
    """Numbers of one type in the memory of the other would be written past its end."""
    model = fitted(cls, dtype=types[0]).set_params(dtype=types[1])
    with pytest.raises(ValueError, match=f"has type {types[0]}, expected {types[1]}"):
        getattr(model, call)(DATA[cls])


def test_another_kind_of_covariance_is_refused() -> None:
    model = fitted(GaussianMixture).set_params(covariance_type="diag")
    for call in (*CALLS, "predict"):
        with pytest.raises(ValueError, match="fitted with other parameters"):
            getattr(model, call)(DATA[GaussianMixture])
    with pytest.raises(ValueError, match="fitted with other parameters"):
        model.sample(3)


@each_class
def test_a_warm_start_is_refused_and_a_new_fit_is_not(cls: Any) -> None:
    model = fitted(cls, warm_start=True).set_params(n_components=2)
    with pytest.raises(ValueError, match="fitted with other parameters"):
        model.fit(DATA[cls])
    model.set_params(warm_start=False).fit(DATA[cls])
    assert model.transform(DATA[cls]).shape == (60, 2)


@each_class
def test_other_changes_are_used(cls: Any) -> None:
    """How to learn may change between two steps."""
    model = fitted(cls).set_params(learning_method="natural-gradient", batch_size=7, n_jobs=1)
    before = model.n_batch_iter_
    assert model.partial_fit(DATA[cls]).n_batch_iter_ == before + 1


@each_class
def test_changes_between_steps_are_noticed(cls: Any) -> None:
    """Parameters that were checked for one step are not checked again, unless they change."""
    model = cls(3, random_state=0).partial_fit(DATA[cls])
    decay = model.partial_fit(DATA[cls]).learning_decay
    model.set_params(n_components=2)
    with pytest.raises(ValueError, match="fitted with other parameters"):
        model.partial_fit(DATA[cls])
    model.set_params(n_components=3, learning_decay="fast")
    with pytest.raises(ValueError, match="learning_decay"):
        model.partial_fit(DATA[cls])
    # What fits the last step does not fit what was fitted since.
    model.set_params(n_components=2, learning_decay=decay).fit(DATA[cls])
    model.set_params(n_components=3)
    with pytest.raises(ValueError, match="fitted with other parameters"):
        model.partial_fit(DATA[cls])
