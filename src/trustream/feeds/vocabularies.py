"""Read the words of a vocabulary, a word a line."""

from __future__ import annotations

from pathlib import Path

from trustream.file_errors import lines_of


def read_vocabulary(path: str | Path) -> list[str]:
    """Return the words of a file with a word a line.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("cat\\ndog\\n")
    ...     file.flush()
    ...     read_vocabulary(file.name)
    ['cat', 'dog']
    """
    words = [line.strip() for line in lines_of(Path(path))]
    words = [word for word in words if word]
    seen: set[str] = set()
    for word in words:
        if word in seen:
            raise ValueError(f"{Path(path).name} has the word {word!r} twice; a column has one")
        seen.add(word)
    return words
