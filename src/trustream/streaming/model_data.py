"""Read data for a fitted model: its words, split as those that it has learned from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from trustream.feeds.data import Data, read_data
from trustream.streaming.fitted_models import FittedModel
from trustream.text import BEFORE_MARKS
from trustream.tokenisers import CustomTokeniser, Tokenise, difference, function_of, specification

# Formats in which words come by number.
_NUMBERED = ("uci", "ldac")


@dataclass(frozen=True, slots=True)
class ModelData:
    """Data, and the model that they are for.

    Attributes:
        model: with words by column, if anything says which.
        data: documents or a matrix.
    """

    model: FittedModel
    data: Data

    @property
    def rows(self) -> Any:
        """A matrix, or documents one by one, as `trustream.topics.inference.infer` takes them."""
        return self.data.rows

    def counts(self, n: int | None = None) -> Any:
        """Return the rows, or the first n, as one matrix with the model's columns."""
        return self.data.counts(self.model.words, n)


def read_for_model(
    model: FittedModel,
    source: str | Path | IO[bytes],
    *,
    format: str | None = None,
    vocabulary: Sequence[str] | None = None,
    vocabulary_name: str = "the vocabulary",
    tokenise: Tokenise | None = None,
    **options: Any,
) -> ModelData:
    """Open documents or a matrix for a model, in any format; texts are split as its own were.

    Parameters
    ----------
    model : FittedModel
        From `load_fitted`.
    source : str, path or binary stream
        "-" is standard input.
    format : str, default=None
        One of `trustream.feeds.FORMATS`; None is told by the name, see `trustream.feeds.read_data`.
    vocabulary : sequence of str, default=None
        Words by column, for a model that has none; the words by number of "uci" and "ldac" files.
    vocabulary_name : str, default="the vocabulary"
        What errors call it.
    tokenise : Tokeniser or callable, default=None
        What makes words of texts; None is the model's own. A warning says so if the model does not
        know and the usual one is taken.
    **options
        How documents are read, see `trustream.feeds.Options`.

    Raises
    ------
    ValueError
        If the data cannot be read, or `tokenise` is not what the model was learned with.

    Examples
    --------
    >>> import io, trustream
    >>> from trustream.text import Tokeniser
    >>> lda = trustream.LatentDirichletAllocation(1, random_state=0).fit([[2, 1], [0, 2]])
    >>> model = FittedModel("pets", lda, ["Cat", "dog"], Tokeniser(lower=False))
    >>> read_for_model(model, io.BytesIO(b"Cat and cat"), format="text").counts().toarray()
    array([[1, 0]])
    """
    options["tokenise"] = _tokenise(model, tokenise)
    if vocabulary is not None:
        options["vocabulary"] = list(vocabulary)
    data = read_data(source, format=format, **options)
    numbered = data.feed is not None and data.feed.format in _NUMBERED
    if vocabulary is not None and not (numbered and model.words is not None):
        model = model.with_words(vocabulary, vocabulary_name)
    if model.words is None and data.feed is not None:
        raise ValueError(
            f"{model.title} does not say which word each of its columns is, and {data.name} has "
            "documents: give a vocabulary (a file with one word per line), or save the model with "
            "its words (set_words)"
        )
    return ModelData(model, _by_name(data, model.words))


def _by_name(data: Data, words: Sequence[str] | None) -> Data:
    """A matrix whose columns are named by the model's words, in the order of the model."""
    names = data.columns
    if names is None or words is None or names == words:
        return data
    known = set(words).intersection(names)
    if sorted(names) == sorted(words):
        place = {name: column for column, name in enumerate(names)}
        return replace(data, matrix=data.matrix[:, [place[word] for word in words]])
    if known and len(names) == len(words):
        strange = next(name for name in names if name not in known)
        raise ValueError(
            f"{data.name} names its columns by other words than the model, {strange!r:.60} among "
            "them: give it the model's columns, or leave the line of names out"
        )
    return data


def _tokenise(model: FittedModel, given: Tokenise | None) -> Tokenise:
    kept = model.tokeniser
    if given is None:
        return _Assumed(model.title) if kept is None else function_of(kept)
    wanted = specification(given)
    # Of a function nobody can tell whether a tokeniser does the same: whoever gives one knows.
    if kept is not None and wanted != kept and not isinstance(kept, CustomTokeniser):
        raise ValueError(
            f"the texts of {model.title} were split in another way ({difference(kept, wanted)}): "
            "leave the tokeniser out, so that new texts have the same words"
        )
    return given


class _Assumed:
    """The usual tokeniser of models that do not say theirs, which says once that nobody asked."""

    def __init__(self, title: str) -> None:
        self._title: str | None = title

    def __call__(self, text: str) -> list[str]:
        if self._title is not None:
            warnings.warn(
                f"{self._title} does not say how its texts were split into words; the usual way is "
                "taken. If it was another, `trustream tokeniser` sets it for a store, and "
                "--word-pattern, --min-length, --stop-words and --keep-case say it here",
                stacklevel=2,
            )
            self._title = None
        return BEFORE_MARKS(text)
