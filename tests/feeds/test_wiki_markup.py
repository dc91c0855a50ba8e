"""What is left of wiki markup."""

from __future__ import annotations

import time

import pytest

from trustream.feeds.wiki_markup import strip_markup


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


@pytest.mark.parametrize(
    "piece",
    "{{ }} [[ ]] [[a| <ref> <ref\tname= <!-- ''''' {| \n|} &amp; < =".split(" "),
)
def test_hostile_markup_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    strip_markup(piece * (400_000 // len(piece)))
    assert time.process_time() - start < 5
