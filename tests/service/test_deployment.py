"""Files for containers and service managers, and the page's examples, work as they are."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import yaml

from trustream.cli import main

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "service.md"


def parses(arguments: list[str]) -> None:
    """A command has these options and arguments."""
    given = [
        f"--token-file={PAGE}" if one.startswith("--token-file") else one for one in arguments[1:]
    ]
    main.commands[arguments[0]].make_context(arguments[0], given)


def test_compose() -> None:
    found = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
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
    text = re.sub(r"^\s*#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
    steps = [line.split(None, 1) for line in lines]
    assert {name for name, _ in steps} <= INSTRUCTIONS
    for name, rest in steps:
        if name == "COPY" and not rest.startswith("--from"):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
        if name in ("CMD", "ENTRYPOINT"):
            assert isinstance(json.loads(rest), list)
    by_name = dict(steps)
    assert by_name["USER"] == "trustream"
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
    assert json.loads(deleted) == {"n_deleted": 1}
    assert json.loads(status)["totals"]["documents"] == 62
    assert events.startswith("retry: 1000\nid: ") and "event: totals" in events


def test_the_page_names_all_routes_and_events(client: httpx.Client) -> None:
    from trustream.service.schemas import EVENTS

    text = PAGE.read_text()
    for route in client.get("/api/v1/openapi.json").json()["paths"]:
        assert route in text, route
    for event in EVENTS:
        assert f"| `{event}` |" in text, event
