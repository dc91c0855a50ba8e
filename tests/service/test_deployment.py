"""Files for containers and service managers, and the page's examples, work as they are."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from benchmarks.service.processes import ServiceProcess
from tests.forking import run_forked
from trustream.cli import main
from trustream.store import Record, open_store

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "service.md"


def parses(arguments: list[str]) -> None:
    """A command has these options and arguments."""
    given = [
        f"--token-file={PAGE}" if one.startswith("--token-file") else one for one in arguments[1:]
    ]
    main.commands[arguments[0]].make_context(arguments[0], given)


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


def instructions() -> list[tuple[str, str]]:
    """The steps of the Dockerfile: their names, and what follows."""
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    return [(name, rest) for name, rest in (line.split(None, 1) for line in lines)]


def test_compose_follows_its_schema() -> None:
    """The schema of the Compose specification, which `check-jsonschema` brings along."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*command, DEPLOY / "compose.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_compose() -> None:
    found = compose()
    services = found["services"]
    assert set(services) == {"database", "init", "trainer", "service"}
    for name, service in services.items():
        assert set(service.get("secrets", ())) <= set(found["secrets"]), name
        assert set(service.get("depends_on", ())) <= set(services), name
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in found["volumes"], name
        if "command" in service:
            parses(service["command"])
        if "build" in service:
            build = service["build"]
            assert (DEPLOY / build["context"] / build["dockerfile"]).is_file()
    # Open to the machine alone.
    assert all(port.startswith("127.0.0.1:") for port in services["service"]["ports"])


INSTRUCTIONS = set(
    "FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE HEALTHCHECK ENTRYPOINT CMD ARG LABEL".split()
)


def test_dockerfile() -> None:
    steps = instructions()
    assert {name for name, _ in steps} <= INSTRUCTIONS
    for name, rest in steps:
        if name == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
        if name in ("CMD", "ENTRYPOINT"):
            assert isinstance(json.loads(rest), list)
    by_name = dict(steps)
    assert by_name["USER"] == "trustream"
    (installed,) = [rest for name, rest in steps if name == "RUN" and "pip install" in rest]
    (extras,) = re.findall(r'"\.\[([a-z,]+)\]"', installed)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras.split(",")) <= set(known)
    # Nothing is installed from what was not copied, and what a build needs was.
    copied = {source for name, rest in steps if name == "COPY" for source in rest.split()[:-1]}
    assert {"pyproject.toml", "README.md", "LICENSE", "src"} <= copied
    assert all("latest" not in rest for name, rest in steps if name == "FROM")
    # The port that is open is that of the service and of the test of its health.
    assert f"127.0.0.1:{by_name['EXPOSE']}/readyz" in by_name["HEALTHCHECK"]
    parsed = main.commands["serve"].make_context("serve", json.loads(by_name["CMD"])[1:])
    assert parsed.params["port"] == int(by_name["EXPOSE"])
    assert json.loads(by_name["ENTRYPOINT"]) == ["trustream"]
    parses(json.loads(by_name["CMD"]))


def test_systemd_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "trustream.service").read_text()
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(text)
    command = unit["Service"]["ExecStart"].split()
    assert command[0] == "/opt/trustream/bin/trustream"
    parses(command[1:])
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not here to check the unit")
    copy = tmp_path / "trustream.service"
    copy.write_text(text.replace(command[0], sys.executable))
    done = subprocess.run([verify, "verify", str(copy)], capture_output=True, text=True)
    assert done.returncode == 0 and str(copy.name) not in done.stderr, done.stderr


def healthy(port: int) -> None:
    """The test of health of the Dockerfile, of a service at another port."""
    (rest,) = [rest for name, rest in instructions() if name == "HEALTHCHECK"]
    command = json.loads(rest.partition(" CMD ")[2])
    assert command[:2] == ["python", "-c"]
    code = command[2].replace(":8000/", f":{port}/")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run(*arguments: str) -> str:
    done = run_forked(None, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_the_commands_of_compose_run(server: Any, tmp_path: Path) -> None:
    """On PostgreSQL, with secrets as files: init, again, the trainer and the service."""
    secrets = {name: tmp_path / name for name in compose()["secrets"]}
    secrets["address"].write_text(f"{server.url}&schema=composed\n")
    secrets["token"].write_text("t" * 64 + "\n")

    def command(name: str) -> list[str]:
        found = compose()["services"][name]["command"]
        return [re.sub(r"/run/secrets/(\w+)", lambda m: str(secrets[m[1]]), one) for one in found]

    run(*command("init"))
    # A second start is no failure: others wait for its success.
    assert "is ready" in run(*command("init"))
    with open_store(f"{server.url}&schema=composed") as opened:
        opened.append(Record(str(i), ["cat", "dog"]) for i in range(20))
    run(*command("trainer"), "--until-idle")
    subcommand, store, *options = command("service")
    assert subcommand == "serve"
    options = [one.replace("0.0.0.0", "127.0.0.1") for one in options]
    service = ServiceProcess(store, tmp_path / "log", *options)
    service.start()
    try:
        healthy(service.port)
        headers = {"Authorization": f"Bearer {'t' * 64}"}
        answer = httpx.get(f"{service.address}/api/v1/status", headers=headers, trust_env=False)
        assert answer.json()["store"]["keep_text"] and answer.json()["access"]["name"]
        assert httpx.get(f"{service.address}/api/v1/status", trust_env=False).status_code == 401
    finally:
        assert service.stop() == 0
    assert server.url not in service.log.read_text() and "t" * 64 not in service.log.read_text()


def test_the_commands_of_the_unit_run(tmp_path: Path) -> None:
    """Those of its comments, and what it starts."""
    text = (DEPLOY / "trustream.service").read_text()
    (init,) = re.findall(r"bin/trustream (init \S+ .*)", text)
    (start,) = re.findall(r"^ExecStart=\S+ serve (.*)", text, re.MULTILINE)
    folder = "/var/lib/trustream"
    assert f"install -d -o trustream {folder}" in text and "StateDirectory=trustream" in text
    run(*init.replace(folder, str(tmp_path)).split())
    store, *options = start.replace(folder, str(tmp_path)).split()
    service = ServiceProcess(store, tmp_path / "log", *options)
    service.start()
    healthy(service.port)
    assert service.children()
    assert service.stop() == 0


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not here")
def test_examples_of_the_page(client: httpx.Client, tmp_path: Path) -> None:
    """The commands of the first walk, one after the other, against a service."""
    (block,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    script = block.replace("http://127.0.0.1:8000", str(client.base_url).rstrip("/"))
    commands = [one for one in re.split(r"\n(?=curl|printf)", script.strip()) if one.strip()]
    commands = [one.replace("curl -s", "curl -s --noproxy '*'") for one in commands]
    answers = []
    for command in commands:
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
        # Of the endless stream curl says that its time is over.
        assert done.returncode in (0, 28 if "--max-time" in command else 0), done.stderr
        answers.append(done.stdout)
    appended, lines, document, topics, inferred, deleted, status, events = answers
    assert json.loads(appended)["n_documents"] == 1 and json.loads(lines)["n_records"] == 2
    assert json.loads(document)["time"] == 1717113600.0
    assert len(json.loads(topics)["items"]) == 2
    assert json.loads(inferred)["documents"][0]["n_known"] == 2
    assert json.loads(deleted) == {"n_deleted": 1, "overwritten": True}
    assert json.loads(status)["totals"]["documents"] == 62
    assert events.startswith("retry: 1000\nid: ") and "event: totals" in events


def test_the_page_names_all_routes_and_events(client: httpx.Client) -> None:
    from trustream.service.schemas import EVENTS

    text = PAGE.read_text()
    for route in client.get("/api/v1/openapi.json").json()["paths"]:
        assert route in text, route
    for event in EVENTS:
        assert f"| `{event}` |" in text, event
