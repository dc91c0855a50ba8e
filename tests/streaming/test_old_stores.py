"""Stores that an older version wrote: their models go on as that version would have."""

from __future__ import annotations

import lzma
from pathlib import Path

import numpy as np
import pytest

import trustream
from tests.data.streams import make
from trustream import StreamTrainer
from trustream.streaming.lda.model import TopicStream
from trustream.streaming.published import load_checkpoint

FOLDER = Path(make.__file__).parent
EXPECTED = np.load(FOLDER / "expected.npz")


@pytest.fixture
def store(tmp_path: Path):
    path = tmp_path / "store.db"
    path.write_bytes(lzma.decompress((FOLDER / "store.db.xz").read_bytes()))
    with trustream.open_store(path, create=False) as found:
        yield found


@pytest.mark.parametrize("name", make.MODELS)
def test_a_checkpoint_goes_on_with_its_own_settings(store, name):
    """The same parameters as the version that wrote it came to, whatever the defaults are now."""
    before, after, _ = make.MODELS[name]
    checkpoint = load_checkpoint(store, name)
    assert checkpoint is not None and checkpoint.state.n_steps == before
    assert checkpoint.model.max_doc_topics is None
    with StreamTrainer(store, name=name, prefetch=False) as trainer:
        trainer.run(steps=after)
        state = trainer.checkpoint().state
    assert state.n_steps == before + after
    found = state.lambda_.dense(state.prior.pattern)
    np.testing.assert_allclose(found, EXPECTED[f"{name}.lambda"], rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(state.prior.alpha, EXPECTED[f"{name}.alpha"], rtol=1e-4)


def test_it_is_written_as_checkpoints_are_now(store):
    """Saved and read again it goes on with the same recipe, also where defaults have changed."""
    old = load_checkpoint(store, "defaults")
    store.save("again", old.to_bytes())
    again = load_checkpoint(store, "again")
    assert again.model == old.model and again.model.recipe == old.model.recipe
    assert again.to_bytes() == old.to_bytes()
    # What that version did, which is not what a new model gets.
    recipe, today = old.model.recipe, TopicStream(n_components=3).recipe
    assert (recipe.batch_size, recipe.effort.n_local, recipe.late) == (100, 50, None)
    assert (today.batch_size, today.effort.n_local) == (None, 15) and today.late is not None


def test_other_settings_are_refused(store):
    with pytest.raises(ValueError, match="made with batch_size=20, now it is 30"):
        StreamTrainer(store, 3, name="trust-region", batch_size=30)
    with pytest.raises(ValueError, match="made with n_components=3, now it is 4"):
        StreamTrainer(store, 4, name="trust-region")
