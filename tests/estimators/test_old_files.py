"""Files of versions without checksums load, and give the numbers that they gave."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors

import trustream
from tests.data.models import make
from trustream.estimators import saving
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.published import as_estimator

FOLDER = Path(make.__file__).parent
NUMBERS = json.loads((FOLDER / "expected.json").read_text())


def test_there_is_a_file_for_each_estimator_and_setting():
    names = {path.stem for path in FOLDER.glob("*.safetensors")}
    assert names == {*NUMBERS, *make.CHECKPOINTS}
    assert {*make.LDA, *make.BERNOULLI, *make.GAUSSIAN} < names
    for name in names:
        assert b'"checksum"' not in (FOLDER / f"{name}.safetensors").read_bytes()


@pytest.mark.parametrize("name", NUMBERS)
def test_estimators(tmp_path, name):
    loaded = trustream.load(FOLDER / f"{name}.safetensors")
    found = make.numbers(loaded)
    for row, expected in zip(found, NUMBERS[name], strict=True):
        np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-7)
    # Saved as files are now, it is the same model.
    loaded.save(tmp_path / "again")
    assert b'"checksum"' in (tmp_path / "again").read_bytes()
    assert make.numbers(trustream.load(tmp_path / "again")) == found


@pytest.mark.parametrize("name", NUMBERS)
def test_arrays_are_kept_bit_by_bit(name):
    path = FOLDER / f"{name}.safetensors"
    # Read by others, who know nothing of us.
    written = load_tensors(path.read_bytes())
    loaded = trustream.load(path)
    is_recommender = name.startswith("recommender")
    arrays, _ = saving.to_arrays(loaded.lda_ if is_recommender else loaded)
    prefix = "lda." if is_recommender else ""
    assert {prefix + key for key in arrays} <= written.keys()
    for key, array in arrays.items():
        assert array.tobytes() == written[prefix + key].tobytes(), key


@pytest.mark.parametrize("name", make.CHECKPOINTS)
def test_checkpoints(name):
    content = (FOLDER / f"{name}.safetensors").read_bytes()
    checkpoint = Checkpoint.from_bytes(content, name)
    written = load_tensors(content)
    assert checkpoint.state.lambda_.stored.tobytes() == written["lambda.stored"].tobytes()
    assert checkpoint.state.n_steps == 3
    assert len(checkpoint.words) == make.N_WORDS
    model = as_estimator(checkpoint)
    theta = model.transform(make.data_of(model))
    np.testing.assert_allclose(theta.sum(axis=1), 1, rtol=1e-5)
    again = Checkpoint.from_bytes(checkpoint.to_bytes(), name)
    assert again.to_bytes() == checkpoint.to_bytes()
    assert (again.clock, again.model) == (checkpoint.clock, checkpoint.model)
    assert again.model.recipe == checkpoint.model.recipe
