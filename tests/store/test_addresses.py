"""Addresses of stores: a password is never shown, and need not stand in the list of processes."""

from __future__ import annotations

import gc
import itertools
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.store.server import Server
from trustream.store import Record, StoreError, open_store, resolve_address, shown_address
from trustream.store.addresses import PostgresAddress

# Letters that are in no part of an address but its password.
LETTERS = "ЖЩЪЯ"
TEMPLATES = [
    "postgresql://me:{}@host/name",
    "postgresql://me:{}@host:5432/name?schema=a",
    "postgresql://:{}@host",
    "postgresql://me:{}@/name?host=/tmp/server",
    "postgres://me:{}@one:1,two:2/name",
    "POSTGRESQL://me:{}@host/name",
    " postgresql://me:{}@host/name\n",
    "postgresql:/me:{}@host/name",
    "postgresql:me:{}@host/name",
    "PostgreSQL : //me:{}@host/name",
    "postgresql://host/name?password={}",
    "postgresql://host/name?schema=a&password={}&user=me",
    "postgresql://host?sslpassword={}&schema=a",
    "postgresql://host/name?passfile={}",
    "postgresql://me@host/name?Password={}",
    "postgresql+psycopg://me:{}@host/name",
    "mysql://me:{}@host/name",
    "host=a password={} dbname=b",
    "password = '{}' host=a",
    "user=me passwd:{}",
    "me:{}@host/name",
    "postgresql://host/name?user=me:{}",
    "postgresql://host/name?schema=a&user=me%3A{}",
    "postgresql://host/name?user=me%253A{}&schema=a",
    "postgresql://host/name?user=me/{}",
    "postgresql://host/name?user=you&user=me:{}",
    "postgresql://me%2F{}@host/name",
    "postgresql://host/name:{}",
    "postgresql://host?host=me:{}",
    "postgresql://host?hostaddr=127.0.0.1,me:{}",
    "postgresql://host?port={}",
    "postgresql://host?sslmode={}",
    "postgresql://host?dbname=postgres://me:{}",
    "postgresql://host?dbname=user%3Dme%20password%3D{}",
    "postgresql://host?service=a:{}",
    "postgresql://host/name?%70assword={}",
    "postgresql://host/name?options=-c%20x.password={}",
    "host=a user=me:{} dbname=b",
    "user = 'me:{}' host=a",
    "host=a sslpassword={}",
    "host=a token={}",
    "host/name?%70assword={}",
    "host/name?user=me%3A{}",
]
passwords = st.text(f"{LETTERS}@/#?%:&= \n\t'\"+~[],.;\\é", min_size=1, max_size=12)


def reveals(text: str) -> bool:
    return any(letter in text for letter in LETTERS)


@example(password="&Ж=:", template="postgresql://host/name?password={}", encode=0)
@given(password=passwords, template=st.sampled_from(TEMPLATES), encode=st.integers(0, 2))
def test_no_part_of_a_password_is_shown(password: str, template: str, encode: int) -> None:
    for _ in range(encode):
        password = quote(password, safe="")
    url = template.format(password)
    assert not reveals(shown_address(url)), url
    assert not reveals(shown_address(Path(url))), url
    parts = PostgresAddress.read(url)
    if parts.password is not None or parts.query:
        assert not reveals(parts.without_secrets(f"cannot use '{url}', that is '{unquote(url)}'"))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("topics.db", "topics.db"),
        ("/data/me@work/topics.db", "/data/me@work/topics.db"),
        ("/data/a:b/topics.db", "/data/a:b/topics.db"),
        ("C:\\data\\me@work\\topics.db", "C:\\data\\me@work\\topics.db"),
        ("/data/passengers.db", "/data/passengers.db"),
        ("env:NAME", "env:NAME"),
        ("@/run/secrets/store", "@/run/secrets/store"),
        ("postgresql://host", "postgresql://host"),
        ("postgresql://me@host:5432/name?schema=a b", "postgresql://me@host:5432/name?schema=a b"),
        ("postgresql://me:a#b=c&d@host/name", "postgresql://me@host/name"),
        ("postgresql://me%40work:secret@host/a%20b", "postgresql://..."),
        ("postgresql://[::1]:5432/passengers", "postgresql://[::1]:5432/passengers"),
        ("postgresql://%2Ftmp%2Fserver/name", "postgresql://%2Ftmp%2Fserver/name"),
        ("postgresql://a,b:2/n?sslmode=require", "postgresql://a,b:2/n?sslmode=require"),
        ("postgresql://h/n?options=-c%20x&schema=a", "postgresql://h/n"),
        ("postgresql://me:secret", "postgresql://..."),
        ("postgresql://h/db?user=me:s3cret", "postgresql://..."),
        ("postgresql://h/db?schema=a&user=me%3As3cret", "postgresql://..."),
        ("postgresql://h/db?user=me&sslmode=s3cret", "postgresql://h/db?user=me"),
        (
            "postgresql://h/db?user=me&port=1,2&host=::1",
            "postgresql://h/db?user=me&port=1,2&host=::1",
        ),
        ("postgresql:///db?host=/tmp/x:5", "postgresql:///db?host=/tmp/x:5"),
        ("host=h user=me:s3cret", "host=h ..."),
        ("/data/user=5/a:b/topics.db", "/data/user=5/a:b/topics.db"),
        ("/data/100%25/topics.db", "/data/100%25/topics.db"),
    ],
)
def test_what_is_shown(url: str, shown: str) -> None:
    assert shown_address(url) == shown


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("postgresql://me:a#b c@host/n?schema=a", "postgresql://me:a#b c@host/n"),
        ("postgres://h/n?a=b+c&schema=x&d=%20", "postgresql://h/n?a=b+c&d=%20"),
        ("postgresql://postgres:@/postgres?host=/tmp/x", None),
        ("postgresql://h:1,i:2?sslmode=require", None),
    ],
)
def test_the_driver_gets_all_but_the_schema(url: str, address: str | None) -> None:
    assert PostgresAddress.read(url).driver_address() == (address or url)


WRONG = [
    "postgresql://me:ЖЩЪ@127.0.0.1:1/name",
    "postgresql://me:Ж@Щ/Ъ@127.0.0.1:1/name",
    "postgresql://me:Ж/ЩЪ@127.0.0.1:1/name",
    "postgresql://me:Ж?Щ#Ъ@127.0.0.1:1/name",
    "postgresql://me:ЖЩЪ/name",
    "postgresql://me:ЖЩЪ%zz@127.0.0.1:1/name",
    "postgresql://me:ЖЩЪ%00@127.0.0.1:1/name",
    "postgresql://me:ЖЩЪ@[::1:1/name",
    "postgresql://me:ЖЩЪ@127.0.0.1:ЖЩ/name",
    "postgresql://127.0.0.1:1/name?password=ЖЩЪ",
    "postgresql://127.0.0.1:1/name?password=ЖЩЪ=Щ",
    "postgresql://127.0.0.1:1/name?passwort=ЖЩЪ",
    "postgresql://127.0.0.1:1/name?ЖЩЪ",
    "postgresql://me:Ж\nЩЪ@127.0.0.1:1/name",
    "postgresql://me:Ж\0ЩЪ@127.0.0.1:1/name",
    "postgresql://me:Ж\ud800ЩЪ@127.0.0.1:1/name",
    "POSTGRES://me:ЖЩЪ@127.0.0.1:1/name",
    "postgresql:/me:ЖЩЪ@127.0.0.1:1/name",
    "postgresql://me:ЖЩЪ@127.0.0.1:1/name?schema=" + "a" * 64,
    "host=127.0.0.1 port=1 password=ЖЩЪ",
    "me:ЖЩЪ@127.0.0.1:1/name",
    "mysql://me:ЖЩЪ@127.0.0.1:1/name",
    "://me:ЖЩЪ@127.0.0.1:1/name",
]


@pytest.mark.parametrize("make", [str, Path])
@pytest.mark.parametrize("url", WRONG)
def test_errors_reveal_nothing(
    url: str,
    make: Callable[[str], str | Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    server = pytest.importorskip("trustream.store.postgres_server", exc_type=ImportError)
    monkeypatch.setattr(server, "BRIEFLY", 0.0)
    monkeypatch.chdir(tmp_path)
    for create in (True, False):
        with pytest.raises(StoreError) as caught:
            open_store(make(url), create=create)
        error: BaseException | None = caught.value
        assert not reveals("".join(traceback.format_exception(error)))
        while error is not None:
            assert not reveals(f"{error} {error!r} {error.args}")
            error = error.__cause__ or error.__context__
    del caught, error
    gc.collect()
    assert not reveals(caplog.text + "".join(capfd.readouterr()))
    assert os.listdir(tmp_path) == []


# --- from elsewhere


def test_an_address_from_the_environment_or_a_file(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_STORE", f"{address}\n")
    (tmp_path / "address").write_text(f"\n {address} \n")
    for place in ("env:SOME_STORE", f"@{tmp_path / 'address'}"):
        with open_store(place, min_documents=1) as store:
            store.append([Record("a", ["x"])])
            # A trainer opens it once more by this.
            assert store.url == address
    with open_store(address) as store:
        assert store.totals().tokens == 2


def test_files_that_are_called_like_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("./@topics.db", Path("@news.db"), "./env:x.db"):
        open_store(place).close()
    assert sorted(os.listdir(tmp_path)) == ["@news.db", "@topics.db", "env:x.db"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file or directory"),
        (b"", "holds no address; put it there, and nothing else, on one line"),
        (b"  \n\n", "holds no address"),
        ("postgresql://me:ЖЩЪ@host/name\nЖЩЪ".encode(), "holds no address"),
        ("\x00\x01ЖЩЪ".encode() * 100_000, "holds no address"),
        ("@ЖЩЪ".encode(), "says where else to look"),
        ("env:ЖЩЪ".encode(), "says where else to look"),
    ],
)
def test_no_address_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, message: str
) -> None:
    path = tmp_path / "address"
    places = [f"@{path}"]
    if content is not None:
        path.write_bytes(content)
        if b"\0" not in content:
            monkeypatch.setenv("SOME_STORE", content.decode())
            places.append("env:SOME_STORE")
    for place in places:
        with pytest.raises(StoreError, match=message) as caught:
            resolve_address(place)
        assert not reveals(str(caught.value))


def test_a_variable_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_STORE", raising=False)
    with pytest.raises(StoreError, match="'SOME_STORE' is not set; put the address"):
        open_store("env:SOME_STORE")


# --- passwords that stand elsewhere

_NUMBERS = itertools.count()


@pytest.fixture
def guarded(server: Server) -> tuple[str, str]:
    """An address without a password, where one is wanted, and the password."""
    import psycopg

    user, password = f"guarded{next(_NUMBERS)}", "Ж@Щ/Ъ:Ω"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{password}'")
        connection.execute(f"GRANT CREATE ON DATABASE postgres TO {user}")
        server.ask_for_password(user)
        connection.execute("SELECT pg_reload_conf()")
    return server.url.replace("postgres:@", f"{user}@") + f"&schema={user}", password


def test_passwords_that_stand_elsewhere(
    guarded: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, password = guarded
    with pytest.raises(StoreError, match=r"wants a password; put it into .* PGPASSWORD"):
        open_store(address)
    monkeypatch.setenv("PGPASSWORD", password)
    open_store(address).close()
    monkeypatch.delenv("PGPASSWORD")
    passwords = tmp_path / "passwords"
    passwords.write_text("*:*:*:*:" + password.replace(":", "\\:") + "\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    open_store(address, create=False).close()
    monkeypatch.delenv("PGPASSFILE")
    open_store(f"{address}&passfile={passwords}", create=False).close()
    with pytest.raises(StoreError, match="wants a password"):
        open_store(address)


def test_a_password_in_the_address(guarded: tuple[str, str]) -> None:
    address, password = guarded
    full = address.replace("@", f":{quote(password, safe='')}@", 1)
    for url in (full, f"{address}&password={quote(password)}"):
        with open_store(url) as store:
            assert store.url == url
            assert store.name == address
            assert repr(store) == f"<DocumentStore {address}>"
        assert repr(store) == f"<DocumentStore {address}, closed>"
    with pytest.raises(StoreError, match="refused the user or the password") as caught:
        open_store(full.replace("%3A", "%3B"))
    assert not reveals("".join(traceback.format_exception(caught.value)))
