"""What is left of wiki markup."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trustream.kernels.wiki_pages import reference_markup as wiki_markup
from trustream.kernels.wiki_pages.reference_markup import strip_markup


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("plain words", "plain words"),
        ("'''bold''' ''slanted'' don't", "bold slanted don't"),
        ("== Head ==\ntext", "Head text"),
        ("a {{template|x={{nested|[[link]]}}|y}} b", "a b"),
        ("a {{{parameter|x}}} b", "a } b"),
        ("a {| class=x\n|-\n| cell {{t}}\n|} b", "a b"),
        ("{{Infobox\n|a=b\n|}} text", "text"),
        ("[[link]]s and [[target|shown]] and [[a (b)|]]x", "links and shown and x"),
        ("[[File:x.jpg|thumb|a [[cat|tom]] and [http://x.org site]]] left", "] left"),
        ("[[category:Cats| ]] [[Image:y.png]] left", "left"),
        ("[http://example.org/a_b?c=d shown] //x.org/y", "shown]"),
        ("a<ref name=x>gone</ref> b<ref name=y /> c<ref>d<br/>e</ref>", "a b c"),
        ("a<!-- gone\n gone -->b", "a b"),
        ("<math>x^2</math><b>kept</b><br />x", "kept x"),
        ("fish &amp;amp; chips&nbsp;too", "fish & chips too"),
        ("__NOTOC__ text", "text"),
        ("open {{ template and [[ link stay", "open template and link stay"),
        ("closed }} and ]] alone", "closed and alone"),
        ("{{a [[b}} c", "c"),
    ],
)
def test_strip_markup(markup: str, words: str) -> None:
    assert strip_markup(markup).split() == words.split()


def test_brackets_inside_one_another() -> None:
    """To any sensible depth; of more than a hundred the outer ones are never closed."""
    depth = 100
    assert strip_markup("{{" * depth + "gone" + "}}" * depth + "here") == "here"
    assert strip_markup("[[a|" * depth + "here" + "]]" * depth) == "here"
    assert strip_markup("[[File:a|" * depth + "gone" + "]]" * depth + "here") == "here"
    deeper = strip_markup("{{ " * 150 + "gone" + " }}" * 150 + "here")
    assert "gone" not in deeper and "here" in deeper
    # Hundreds of slips do not keep later links from being read.
    assert strip_markup("{{ " * 500 + "[[a|here]] [[File:b]]").split() == ["here"]


@pytest.mark.parametrize(
    "piece",
    "{{ }} [[ ]] [[a| <ref> <ref\tname= <!-- ''''' {| \n|} &amp; < =".split(" "),
)
def test_hostile_markup_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    strip_markup(piece * (400_000 // len(piece)))
    assert time.process_time() - start < 5


@pytest.mark.parametrize("opening", ["[[", "[[x ", "{{", "{|"])
def test_deep_markup_takes_linear_time(opening: str) -> None:
    closing = {"[": "]] y", "{": "}}"}[opening[0]] if opening != "{|" else "\n|}"
    start = time.process_time()
    strip_markup(opening * 300_000 + "word " * 300_000 + closing * 300_000)
    assert time.process_time() - start < 30


@settings(deadline=None, max_examples=500)
@given(
    pieces=st.lists(
        st.sampled_from(
            ["[[", "]]", "{{", "}}", "{|", "|}", "|", "[", "]", "{", "}", "a", "b c", "File:", ":",
             "[[x]]", "[[y|z]]", "[[image:y|z]]", "{{t}}", "[[" * 60, "{{[[" * 40, "]]" * 30]
        ),
        max_size=60,
    )
)  # fmt: skip
def test_links_found_as_a_whole_are_what_their_brackets_make_of_them(pieces: list[str]) -> None:
    """Found bracket by bracket, the same is left, also of more of them than are followed."""
    text = "".join(pieces)
    found = strip_markup(text)
    with pytest.MonkeyPatch.context() as patch:
        one_by_one = re.compile(r"(\{\{|\}\}|\{\||\|\}(?!\})|\[\[|\]\])")
        patch.setattr(wiki_markup, "_BRACKET", one_by_one)
        assert strip_markup(text) == found
