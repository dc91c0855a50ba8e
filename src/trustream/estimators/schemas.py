"""What the header of an estimator's file may hold."""

from __future__ import annotations

from trustream._schema import Rule, any_number, boolean, integer, mapping, number, text
from trustream.learning import state_arrays
from trustream.learning.state_formats import FLOATS

HEADER: dict[str, Rule] = {
    "estimator": text,
    "params": mapping,
    "attributes": mapping,
    **state_arrays.HEADER,
    "rng": mapping,
    "tokeniser": mapping,
    "topics": mapping,
    "seed_topics": mapping,
}
# All that a file may set on an estimator, besides parameters.
ATTRIBUTES: dict[str, Rule] = {
    "n_features_in_": integer(1),
    "n_iter_": integer(0),
    "_n_samples_seen": integer(0),
    "_mean_tokens": number(least=0.0),
    "lower_bound_": any_number,
    "_watched_perplexity": any_number,
    "n_symbols_": integer(1),
    "_grouped": boolean,
}
# Attributes that only some have.
MAY_LACK = ("lower_bound_", "_mean_tokens", "_watched_perplexity", "n_symbols_", "_grouped")
_MOST_JOBS = 4096
# Parameters that scikit-learn's constraints leave open.
LIMITS: dict[str, Rule] = {
    "seed_words": Rule(
        lambda value: (
            value is None
            or (
                isinstance(value, dict)
                and all(
                    isinstance(words, list) and all(isinstance(word, str) for word in words)
                    for words in value.values()
                )
            )
        ),
        "nothing, or lists of words by name",
    ),
    "n_jobs": Rule(
        lambda value: value is None or (type(value) is int and 0 < abs(value) <= _MOST_JOBS),
        f"nothing, or a number of threads other than 0, up to {_MOST_JOBS}",
    ),
}
PLAIN = Rule(
    lambda value: (
        value is None
        or isinstance(value, bool | str)
        or integer(-(2**63)).accepts(value)
        or isinstance(value, float)
    ),
    "a number, text, true, false or nothing",
)

# Arrays among the parameters come as users gave them.
NUMBERS = (
    *FLOATS, "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"
)  # fmt: skip
