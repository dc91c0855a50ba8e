"""Phrases: scores against enumeration and gensim, bounds of pruned counts, joined words."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log

import numpy as np
import pytest
from gensim.models.phrases import Phrases as GensimPhrases
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from trustream.bounded_counts import BoundedCounts
from trustream.phrase_joining import PhraseJoiner
from trustream.phrases import Phrases, find_phrases, log_likelihood, npmi
from trustream.text import Tokeniser

STRETCHES = st.lists(st.lists(st.sampled_from("abcde"), max_size=8), max_size=12)


def corpus(seed: int, n: int = 300) -> list[list[str]]:
    """Random words, among them "new york", which comes as often as its words but for a few."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(30)]
    found = []
    for _ in range(n):
        stretch = list(rng.choice(words, rng.integers(1, 9)))
        if rng.random() < 0.2:
            stretch[rng.integers(len(stretch)) :] = ["new", "york"]
        if rng.random() < 0.05:
            stretch.append("new")
        found.append(stretch)
    return found


@settings(deadline=None, max_examples=200)
@given(stretches=STRETCHES)
def test_scores_against_counting(stretches: list[list[str]]) -> None:
    words = Counter(word for stretch in stretches for word in stretch)
    pairs = Counter(pair for stretch in stretches for pair in pairwise(stretch))
    n = words.total()
    counted = Phrases(min_count=1, threshold=-1).update(stretches)
    assert counted.n_words == n and counted.error == 0
    assert {phrase.text: phrase.count for phrase in counted.found()} == {
        f"{a} {b}": count for (a, b), count in pairs.items()
    }
    for (a, b), count in pairs.items():
        both, first, second = count / n, words[a] / n, words[b] / n
        expected = log(both / (first * second)) / -log(both)
        assert counted.score(a, b) == pytest.approx(expected, abs=1e-12)
        assert -1 - 1e-12 <= expected <= 1 + 1e-12


def test_npmi_is_that_of_gensim() -> None:
    stretches = corpus(0)
    theirs = GensimPhrases(stretches, min_count=3, threshold=-1, scoring="npmi", delimiter=" ")
    ours = Phrases(min_count=3, threshold=-1).update(stretches)
    expected = {pair: score for pair, score in theirs.export_phrases().items() if score > -1}
    found = {phrase.text: phrase.score for phrase in ours.found()}
    assert len(found) > 80 and found.keys() == expected.keys()
    for pair, score in expected.items():
        assert found[pair] == pytest.approx(score, abs=1e-12)


def test_log_likelihood_is_that_of_the_table() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        table = rng.integers(1, 60, (2, 2))
        both, first, second = table[0, 0], table[0].sum(), table[:, 0].sum()
        n = table.sum()
        found = log_likelihood(*map(int, (both, first, second, n)))
        expected = chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
        assert abs(found) == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert (found > 0) == (both * n > first * second) or abs(found) < 1e-9


def test_the_planted_phrase_is_found() -> None:
    for scoring in ("npmi", "log-likelihood"):
        found = Phrases(scoring=scoring).update(corpus(1)).found()
        assert [phrase.text for phrase in found] == ["new york"], scoring
    # Of words by chance few are called phrases.
    rng = np.random.default_rng(2)
    noise = [list(rng.choice([f"w{i}" for i in range(50)], 10)) for _ in range(2000)]
    assert not Phrases().update(noise).found()
    by_chance = Phrases(scoring="log-likelihood").update(noise).found()
    assert len(by_chance) <= 3  # of 2,500 pairs, 0.25 are expected


@settings(deadline=None, max_examples=200)
@given(
    parts=st.lists(st.lists(st.integers(0, 30), max_size=60), max_size=8), most=st.integers(1, 9)
)
def test_pruned_counts_are_within_their_bound(parts: list[list[int]], most: int) -> None:
    """Whether they come in one stream, or in parts that are merged."""
    truth = Counter(thing for part in parts for thing in part)
    one, merged = BoundedCounts(most), BoundedCounts(most)
    for part in parts:
        one.add(part)
        other = BoundedCounts(most)
        other.add(part)
        merged = merged.merged(other)
    for counts in (one, merged):
        assert counts.n == truth.total() and len(counts.counts) <= 2 * most
        assert counts.error * (most + 1) <= counts.n - counts.counts.total()
        for thing, count in truth.items():
            assert counts.counts[thing] <= count <= counts.counts[thing] + counts.error


def test_pruning_names_no_phrase_that_is_none() -> None:
    """Scores of pruned counts are never above those of all counts, and frequent ones are found."""
    rng = np.random.default_rng(3)
    rare = [[f"r{i}" for i in rng.zipf(1.3, 6) % 5000] for _ in range(2000)]
    stretches = [words for pair in zip(corpus(3, 2000), rare, strict=True) for words in pair]
    for scoring in ("npmi", "log-likelihood"):
        exact = Phrases(scoring=scoring, min_count=1, threshold=-1).update(stretches)
        pruned = Phrases(scoring=scoring, min_count=1, threshold=-1, max_counts=200)
        for i in range(0, 4000, 50):
            pruned.update(stretches[i : i + 50])
        assert pruned.error > 0 and pruned._words.error > 0
        assert len(pruned._words.counts) <= 400 and len(pruned._pairs.counts) <= 400
        for phrase in pruned.found():
            assert phrase.score <= exact.score(*phrase.text.split()) + 1e-9
        assert "new york" in {phrase.text for phrase in pruned.found()}


def test_parts_merge_to_the_whole() -> None:
    stretches = corpus(4)
    whole = Phrases(min_count=2).update(stretches)
    one, other = Phrases(min_count=2).update(stretches[:100]), Phrases().update(stretches[100:])
    before = one.found()
    assert one.merge(other).found() == whole.found()
    assert one.found() == before and one.copy().found() == before
    # And as they come.
    for stretch in stretches[100:]:
        one.update([stretch])
    assert one.found() == whole.found()


@settings(deadline=None, max_examples=200)
@given(
    words=st.lists(st.sampled_from("abc"), max_size=12),
    phrases=st.sets(st.lists(st.sampled_from("abc"), min_size=2, max_size=4).map(" ".join)),
)
def test_joining(words: list[str], phrases: set[str]) -> None:
    """From the left, the longest first; nothing is lost."""
    found = PhraseJoiner(phrases)(words)
    assert "_".join(found).split("_") == (words or [""])
    place = 0
    for word in found:
        longest = max(
            (n for n in range(2, 5) if " ".join(words[place : place + n]) in phrases
             and place + n <= len(words)),
            default=1,
        )  # fmt: skip
        assert len(word.split("_")) == longest
        place += longest


def test_a_tokeniser_joins_what_stands_together() -> None:
    tokeniser = Tokeniser(phrases=["New  York", "trust region", "region step"])
    assert tokeniser("New York. new-york; New\nYork") == ["new_york"] * 3
    # Not over the end of a sentence, a stop word, a number, or the end of a paragraph.
    apart = "something new. York; a new the York, new 2 York, new\n\nYork"
    assert tokeniser(apart) == ["new", "york"] * 4
    assert tokeniser("the trust-region step") == ["trust_region", "step"]
    longer = tokeniser.with_phrases(["new_york times"])
    assert longer("New York Times, New York") == ["new_york_times", "new_york"]
    again = Tokeniser.from_dict(longer.to_dict())
    assert again == longer != tokeniser and hash(again) == hash(longer)
    assert again.phrases == ("new york", "new york times", "region step", "trust region")
    hindi = Tokeniser(language="hi", phrases=["नई दिल्ली"])
    assert hindi("मैं नई दिल्ली में") == ["नई_दिल्ली"]
    chinese = Tokeniser(language="zh", phrases=["自然语言 处理"])
    assert "自然语言_处理" in chinese("学习自然语言处理")


def test_longer_phrases_by_a_second_look() -> None:
    texts = ["the New York Times of today", "old New York", "Times of old"] * 10
    first = Tokeniser(phrases=[phrase.text for phrase in find_phrases(texts, threshold=0.4)])
    assert "new york" in first.phrases
    more = find_phrases(texts, first, threshold=0.2)
    assert "new york times" in first.with_phrases(phrase.text for phrase in more).phrases


@pytest.mark.parametrize(
    ("phrases", "message"),
    [
        (["york"], "has 1 words, expected two or more"),
        (["bank of america"], "has 'of', which is a stop word, too short, or no word"),
        ("new york", "expected a list of them"),
        ([("new", "york")], "of type tuple, expected text"),
    ],
)
def test_bad_phrases(phrases: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tokeniser(phrases=phrases)


def test_bad_settings() -> None:
    with pytest.raises(ValueError, match="expected 'npmi' or 'log-likelihood'"):
        Phrases(scoring="pmi")
    with pytest.raises(ValueError, match="threshold is 2, expected a number from -1 to 1"):
        Phrases(threshold=2)
    with pytest.raises(ValueError, match="min_count is 0, expected a whole number from 1"):
        Phrases(min_count=0)
    with pytest.raises(ValueError, match="'a text' is a text, expected a list of words"):
        Phrases().update(["a text"])
    with pytest.raises(ValueError, match="phrases are made of words, and bigrams are none"):
        Tokeniser(segmenter="bigrams", phrases=["new york"])
    with pytest.raises(ValueError, match="texts are a single string"):
        find_phrases("a text")
    assert Phrases().found() == [] and Phrases().update([[]]).found() == []
    assert npmi(3, 3, 3, 3) == 1.0
