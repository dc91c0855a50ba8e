"""Files of earlier versions load, and give the numbers that they gave."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load as load_tensors

import trustream
from tests.data.models import make
from trustream.estimators import saving
from trustream.recommender.fitted_recommender import FittedRecommender
from trustream.streaming.checkpoint import Checkpoint
from trustream.streaming.published import as_estimator

FOLDER = Path(make.__file__).parent
# Of 0.1.0, before files had checksums, and of versions that were released.
FOLDERS = {"0.1.0": FOLDER, "0.2.0": FOLDER / "0.2.0"}
NUMBERS = {
    (version, name): numbers
    for version, folder in FOLDERS.items()
    for name, numbers in json.loads((folder / "expected.json").read_text()).items()
}


def file_of(version, name):
    return FOLDERS[version] / f"{name}.safetensors"


def test_there_is_a_file_for_each_estimator_and_setting():
    for version, folder in FOLDERS.items():
        names = {path.stem for path in folder.glob("*.safetensors")}
        assert names == {*(name for v, name in NUMBERS if v == version), *make.CHECKPOINTS}
        assert {*make.LDA, *make.BERNOULLI, *make.GAUSSIAN} < names
        for name in names:
            content = file_of(version, name).read_bytes()
            assert (b'"checksum"' in content) == (version != "0.1.0")
            assert version.encode() in content


@pytest.mark.parametrize(("version", "name"), NUMBERS)
def test_estimators(tmp_path, version, name):
    loaded = trustream.load(file_of(version, name))
    found = make.numbers(loaded)
    for row, expected in zip(found, NUMBERS[version, name], strict=True):
        np.testing.assert_allclose(row, expected, rtol=1e-4, atol=1e-7)
    # Saved as files are now, it is the same model.
    loaded.save(tmp_path / "again")
    assert b'"checksum"' in (tmp_path / "again").read_bytes()
    assert make.numbers(trustream.load(tmp_path / "again")) == found


@pytest.mark.parametrize(("version", "name"), NUMBERS)
def test_arrays_are_kept_bit_by_bit(version, name):
    path = file_of(version, name)
    # Read by others, who know nothing of us.
    written = load_tensors(path.read_bytes())
    loaded = trustream.load(path)
    is_recommender = isinstance(loaded, FittedRecommender)
    arrays, _ = loaded._to_arrays() if is_recommender else saving.to_arrays(loaded)
    assert arrays.keys() <= written.keys()
    for key, array in arrays.items():
        assert array.tobytes() == written[key].tobytes(), key


@pytest.mark.parametrize("version", FOLDERS)
@pytest.mark.parametrize("name", make.CHECKPOINTS)
def test_checkpoints(version, name):
    content = file_of(version, name).read_bytes()
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
