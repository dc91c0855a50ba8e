"""The result of a check of a store, by kinds of damage."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

_MOST_EXAMPLES = 20


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of damage.

    Attributes:
        meaning: what is wrong, in a few words.
        advice: what to do about it.
        repairable: whether a repair can compute what is right from the documents.
    """

    meaning: str
    advice: str
    repairable: bool = False


_RESTORE = "restore a copy from before the damage"
_REPAIR = "check(repair=True) or trustream check --repair puts it right"

KINDS = {
    "database": Kind(
        "the database itself is damaged, and nothing else was checked",
        "restore a copy, or rescue what is left with the sqlite3 program's .recover",
    ),
    "state": Kind("there is not exactly one row of counters or of settings", _RESTORE),
    "words lost": Kind(
        "words that were acknowledged are in no document: the store was written by a version that "
        "lost words of documents that grew past 256 different ones",
        "repair the counts, then delete the suspected documents and ingest them again",
        repairable=True,
    ),
    "tokens": Kind("the number of tokens is not that of the documents", _REPAIR, True),
    "counts": Kind("words are not in as many documents as is counted", _REPAIR, True),
    "counters": Kind("counters are not what counting gives", _REPAIR, True),
    "columns": Kind("columns do not have the words that they should have", _REPAIR, True),
    "unused words": Kind("words that no document has are still there", _REPAIR, True),
    "places": Kind("the places of documents have holes", _REPAIR, True),
    "held out": Kind("documents are not in the part that their key says", _REPAIR, True),
    "contents": Kind(
        "documents have contents that cannot be read as they are",
        "a repair keeps what can be read of them; then delete them and ingest them again",
        repairable=True,
    ),
    "texts": Kind(
        "texts cannot be read, or no document has them",
        "a repair removes them; ingest these documents again to have their texts",
        repairable=True,
    ),
    "orders": Kind(
        "orders of words cannot be read, or no document has them",
        "a repair removes them; ingest these documents again to find phrases in them",
        repairable=True,
    ),
    "repeated": Kind("what should be there once is there several times", _RESTORE),
    "keys": Kind("keys are not valid", _RESTORE),
    "numbers": Kind("numbers of documents are not valid", _RESTORE),
    "times": Kind("times of documents are not finite numbers, or not known whose", _RESTORE),
    "words": Kind("words are not valid", _RESTORE),
    "append ids": Kind("append ids are not valid", _RESTORE),
    "feeds": Kind(
        "positions of feeds cannot be read", "ingest these feeds with again=True and replace=True"
    ),
    "saved": Kind(
        "what was saved under a name lacks a part or its version, or is damaged",
        "train or save it again",
    ),
    "settings": Kind(
        "settings cannot be used; if they are not the tokeniser, nothing else was checked",
        "restore a copy from before the damage; set a tokeniser anew: trustream tokeniser STORE",
    ),
    "leases": Kind(
        "leases cannot be read", "a repair frees them: nobody may train these models then", True
    ),
    "history": Kind("rows of a history are not valid", _RESTORE),
}


@dataclass(frozen=True, slots=True)
class Damage:
    """Damage of one kind.

    Attributes:
        kind: one of the names in `KINDS`.
        count: how many documents, words, tokens or whatever the kind is about are damaged.
        examples: the first of them, a few words each.
        repaired: whether this check has put it right.

    >>> print(Damage("tokens", 3, ("the store counts 8, its documents have 5",)))
    tokens: the number of tokens is not that of the documents (3; the store counts 8, its ...
    """

    kind: str
    count: int
    examples: tuple[str, ...] = ()
    repaired: bool = False

    @property
    def advice(self) -> str:
        """What to do about it."""
        return KINDS[self.kind].advice

    def __str__(self) -> str:
        some = "; ".join(self.examples[:3])
        text = f"{self.kind}: {KINDS[self.kind].meaning} ({self.count:,}; {some})"
        return f"{text}, repaired" if self.repaired else f"{text}; {self.advice}"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a check of a store found.

    Attributes:
        n_documents: documents that there are.
        n_tokens: tokens that they have.
        damage: what is wrong, one for each kind; none if all is well.
        faulty: whether the store was written by a version that lost words.
        missing_tokens: tokens that were acknowledged and that no document has, because of that
            version; those of documents that were deleted since are among them.
        n_suspects: documents that may lack words, or whose contents were damaged: delete them and
            ingest them again.
        suspects: keys of the first of them, those with the most words first; `on_suspect` is called
            with each.

    >>> result = CheckResult(2, 7)
    >>> result.ok, result.kinds
    (True, ())
    """

    n_documents: int
    n_tokens: int
    damage: tuple[Damage, ...] = ()
    faulty: bool = False
    missing_tokens: int = 0
    n_suspects: int = 0
    suspects: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong any more; words that were lost before a repair stay lost."""
        return all(damage.repaired for damage in self.damage)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of damage that were found."""
        return tuple(damage.kind for damage in self.damage)


@dataclass(slots=True)
class Findings:
    """Collects damage while a store is being checked.

    >>> findings = Findings()
    >>> findings.add("keys", "'' has 0 characters")
    >>> [damage.count for damage in findings.damage()]
    [1]
    """

    _counts: dict[str, int] = field(default_factory=dict)
    _examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, kind: str, example: str | None, count: int = 1) -> None:
        """Add damage of a kind, with an example or none."""
        if count:
            self._counts[kind] = self._counts.get(kind, 0) + count
            examples = self._examples.setdefault(kind, [])
            if example is not None and len(examples) < _MOST_EXAMPLES:
                examples.append(example)

    def has(self, *kinds: str) -> bool:
        """Whether there is damage of one of these kinds."""
        return any(kind in self._counts for kind in kinds)

    def damage(self, repaired: Collection[str] = ()) -> tuple[Damage, ...]:
        """All damage, in the order of `KINDS`."""
        return tuple(
            Damage(kind, self._counts[kind], tuple(self._examples[kind]), kind in repaired)
            for kind in KINDS
            if kind in self._counts
        )
