"""Find words in scripts that are written without spaces, by name.

| name | what it does | what it needs |
|---|---|---|
| `jieba` | Chinese words, by a dictionary and a hidden Markov model | `trustream[chinese]` |
| `fugashi` | Japanese words, by MeCab and the dictionary IPADIC | `trustream[japanese]` |
| `pythainlp` | Thai words, by a dictionary (newmm) | `trustream[thai]` |
| `characters`, `bigrams`, `trigrams` | one to three characters in a row, overlapping | nothing |

A name is data, so that a store and a model file can keep it. Anything else is a function of your
own that makes words of whole texts: see `trustream.topics.register_tokeniser`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from trustream.languages import missing
from trustream.unicode_words import UNSPACED, unspaced_script

Segmenter = Callable[[str], list[str]]

# Characters of each piece.
N_GRAMS = {"characters": 1, "bigrams": 2, "trigrams": 3}
# The extra with its packages.
EXTRAS = {"jieba": "chinese", "fugashi": "japanese", "pythainlp": "thai"}
NAMES = (*EXTRAS, *N_GRAMS)
# Characters that are given to a segmenter in one go; real sentences are shorter.
_AT_ONCE = 5000
# Characters that words of scripts without spaces have on average if they are no clauses.
_OF_A_WORD = 5
_INSTEAD = {
    "Chinese or Japanese": 'language="zh", language="ja" or segmenter="bigrams"',
    "Thai": 'language="th" or segmenter="bigrams"',
}


def unspaced_advice(words: Iterable[str]) -> str | None:
    """Return what to do if words are whole clauses of a script without spaces, else None.

    Parameters
    ----------
    words : iterable of str
        Some words of texts, without a segmenter.

    Examples
    --------
    >>> print(unspaced_advice(["我来到北京清华大学", "学习自然语言处理"]))
    whole clauses of Chinese or Japanese, which has no spaces between words, became words: give \
the tokeniser language="zh", language="ja" or segmenter="bigrams"
    >>> unspaced_advice(["北京", "大学"]), unspaced_advice(["plain", "words"])
    (None, None)
    """
    joined = " ".join(words)
    script = unspaced_script(joined)
    if script is None:
        return None
    runs = UNSPACED.findall(joined)
    if sum(map(len, runs)) <= _OF_A_WORD * len(runs):
        return None
    instead = _INSTEAD.get(script, 'segmenter="bigrams"')
    return (
        f"whole clauses of {script}, which has no spaces between words, became words: give the "
        f"tokeniser {instead}"
    )


def segmenter(name: str) -> Segmenter:
    """Return the function that cuts a run of letters into words; they make up the whole run.

    Raises
    ------
    ImportError
        The package that it needs is not installed; the message names the extra.

    Examples
    --------
    >>> segmenter("jieba")("我来到北京清华大学")
    ['我', '来到', '北京', '清华大学']
    >>> segmenter("bigrams")("清华大学")
    ['清华', '华大', '大学']
    """
    if name in N_GRAMS:
        return _n_grams(N_GRAMS[name])
    if name not in EXTRAS:
        raise ValueError(f"segmenter is {name!r:.60}, expected one of {', '.join(NAMES)}")
    try:
        return _in_pieces(_loaded(name))
    except ImportError as error:
        raise missing(f"the segmenter {name}", error, EXTRAS[name]) from error


@cache
def _loaded(name: str) -> Segmenter:
    if name == "jieba":
        # The same algorithm and dictionary as in the package `jieba`; it keeps no file of its
        # dictionary in the folder for temporary files, where others might change it.
        import rjieba

        return lambda run: list(rjieba.cut(run))
    if name == "fugashi":
        import fugashi
        import ipadic

        tagger = fugashi.GenericTagger(f"{ipadic.MECAB_ARGS} -Owakati")
        return lambda run: tagger.parse(run).split()
    from pythainlp.tokenize import word_tokenize

    return lambda run: word_tokenize(run, engine="newmm")


def _n_grams(n: int) -> Segmenter:
    def pieces(run: str) -> list[str]:
        return [run[i : i + n] for i in range(max(1, len(run) - n + 1))]

    return pieces


def _in_pieces(cut: Segmenter) -> Segmenter:
    """Long runs are cut a few thousand characters at a time, for time and memory have a bound."""

    def pieces(run: str) -> list[str]:
        if len(run) <= _AT_ONCE:
            return cut(run)
        return [word for i in range(0, len(run), _AT_ONCE) for word in cut(run[i : i + _AT_ONCE])]

    return pieces
