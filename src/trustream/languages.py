"""Know what a tokeniser does in a language: its stop words, its shortest words, its marks.

The lists of stop words come from two packages, of the extra ``trustream[languages]``, and are read
when a tokeniser is made: it keeps the words themselves, so that neither a store nor a model file
needs the packages. `stop-words` (BSD licence) has moderate lists. Where it has none, or one that is
not for the language as it is written today (Greek), or of single characters (Chinese), the list is
that of `stopwordsiso` (MIT licence). Those of `stopwordsiso` for other languages are longer, and
have words in them that topics are made of, such as water, woman and Moscow in Russian. English ones
are a part of trustream.
"""

from __future__ import annotations

from dataclasses import dataclass

from trustream._stop_words import STOP_WORDS


@dataclass(frozen=True, slots=True)
class Language:
    """What a tokeniser does in a language unless it is told otherwise.

    Attributes
    ----------
    code : str
        As in ISO 639-1.
    name : str
        In English.
    min_length : int
        Letters of the shortest word. It is 3 for alphabets; 2 where vowels are not letters of their
        own or a letter is a syllable, since words of two letters say something there.
    drop_marks : bool
        Whether marks that are no part of a letter's character are left out, because most people do
        not write them: vowel points of Arabic and Hebrew, stress marks of Russian.
    segmenter : str or None
        What finds words where they are written without spaces.
    dotless : bool
        Whether the lower case of I is ı.
    """

    code: str
    name: str
    min_length: int = 3
    drop_marks: bool = False
    segmenter: str | None = None
    dotless: bool = False


_ALL = (
    Language("ar", "Arabic", 2, drop_marks=True),
    Language("bg", "Bulgarian", drop_marks=True),
    Language("bn", "Bengali", 2),
    Language("ca", "Catalan"),
    Language("cs", "Czech"),
    Language("da", "Danish"),
    Language("de", "German"),
    Language("el", "Greek"),
    Language("en", "English"),
    Language("es", "Spanish"),
    Language("fa", "Persian", 2, drop_marks=False),
    Language("fi", "Finnish"),
    Language("fr", "French"),
    Language("gu", "Gujarati", 2),
    Language("he", "Hebrew", 2, drop_marks=True),
    Language("hi", "Hindi", 2),
    Language("hu", "Hungarian"),
    Language("id", "Indonesian"),
    Language("it", "Italian"),
    Language("ja", "Japanese", 2, segmenter="fugashi"),
    Language("ko", "Korean", 2),
    Language("mr", "Marathi", 2),
    Language("nl", "Dutch"),
    Language("no", "Norwegian"),
    Language("pl", "Polish"),
    Language("pt", "Portuguese"),
    Language("ro", "Romanian"),
    Language("ru", "Russian", drop_marks=True),
    Language("sk", "Slovak"),
    Language("sv", "Swedish"),
    Language("th", "Thai", 2, segmenter="pythainlp"),
    Language("tr", "Turkish", dotless=True),
    Language("uk", "Ukrainian", drop_marks=True),
    Language("vi", "Vietnamese", 2),
    Language("zh", "Chinese", 2, segmenter="jieba"),
)
LANGUAGES = {language.code: language for language in _ALL}
_BY_NAME = {language.name.lower(): language for language in _ALL}
# Those whose list of stop words is that of stopwordsiso.
_ISO = ("bn", "el", "ja", "mr", "th", "zh")


def language(name: str) -> Language:
    """Return a language by its code or its English name.

    Examples
    --------
    >>> language("de").name, language("Hindi").code
    ('German', 'hi')
    >>> language("klingon")
    Traceback (most recent call last):
    ...
    ValueError: language is 'klingon', expected one of ar, bg, ..., zh, or its English name
    """
    if isinstance(name, str):
        found = LANGUAGES.get(name.lower()) or _BY_NAME.get(name.lower())
        if found is not None:
            return found
    raise ValueError(
        f"language is {name!r:.60}, expected one of {', '.join(LANGUAGES)}, or its English name"
    )


def stop_words(name: str) -> frozenset[str]:
    """Return the stop words of a language as they are listed.

    Parameters
    ----------
    name : str
        Its code or its English name.

    Raises
    ------
    ImportError
        The package that has them is not installed.

    Examples
    --------
    >>> "nicht" in stop_words("de"), "the" in stop_words("english")
    (True, True)
    """
    found = language(name)
    if found.code == "en":
        return STOP_WORDS
    try:
        if found.code in _ISO:
            import stopwordsiso

            return frozenset(stopwordsiso.stopwords(found.code))
        import stop_words as listed

        return frozenset(listed.get_stop_words(found.name.lower()))
    except ImportError as error:
        raise missing(f"the list of {found.name} stop words", error, "languages") from error


def missing(what: str, error: ImportError, extra: str) -> ImportError:
    """Return the error that names the extra to install for a package that is not there.

    >>> print(missing("Thai", ImportError("No module named 'pythainlp'"), "thai"))
    Thai needs another package (No module named 'pythainlp'): pip install 'trustream[thai]'
    """
    return ImportError(f"{what} needs another package ({error}): pip install 'trustream[{extra}]'")
