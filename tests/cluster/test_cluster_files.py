"""Files for clusters can be read, fit together, and name commands that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import yaml

from trustream.cli import main
from trustream.cluster.driver_memory import driver_bytes

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "cluster.md"


def parses(command: str) -> None:
    """A command line of trustream has options and arguments that exist."""
    words = shlex.split(command)
    assert words[0] == "trustream", command
    main.commands[words[1]].make_context(words[1], words[2:])


def read(name: str) -> Any:
    return yaml.safe_load((DEPLOY / name).read_text())


def versions() -> set[str]:
    texts = [path.read_text() for path in DEPLOY.iterdir() if path.is_file()]
    return {found for text in texts for found in re.findall(r"2\.\d+\.\d+", text)}


def test_kubernetes() -> None:
    found = read("kuberay.yaml")
    assert (found["apiVersion"], found["kind"]) == ("ray.io/v1", "RayJob")
    parses(found["spec"]["entrypoint"])
    cluster = found["spec"]["rayClusterSpec"]
    groups = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for group in groups:
        (container,) = group["template"]["spec"]["containers"]
        volumes = {volume["name"] for volume in group["template"]["spec"]["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
        assert container["resources"]["limits"] == container["resources"]["requests"]
        assert [one["name"] for one in container["env"]] == ["TRUSTREAM_STORE"]
    # The head has the driver and nothing else; workers only scale within what they say.
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    (workers,) = cluster["workerGroupSpecs"]
    assert workers["minReplicas"] <= workers["replicas"] <= workers["maxReplicas"]


def test_ray_up() -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    found = read("ray-cluster.yaml")
    # By the rules of `ray up` itself.
    validate_config(prepare_config(read("ray-cluster.yaml")))
    types = found["available_node_types"]
    assert found["head_node_type"] in types
    assert types["workers"]["max_workers"] <= found["max_workers"]
    assert types["head"]["resources"]["CPU"] == 0
    assert any("trustream[cluster" in one for one in found["setup_commands"])
    assert any("--autoscaling-config" in one for one in found["head_start_ray_commands"])


def test_one_version_of_ray() -> None:
    assert len(versions()) == 1


def test_image() -> None:
    lines = (DEPLOY / "cluster.Dockerfile").read_text().splitlines()
    copied = [line.split()[2] for line in lines if line.startswith("COPY")]
    assert all((ROOT / name).exists() for name in copied)


def test_commands_of_the_page() -> None:
    commands = re.findall(r"^(?:ray exec \S+ ['\"])?(trustream [^\n#']*)", PAGE.read_text(), re.M)
    assert len(commands) >= 6
    for command in commands:
        parses(command.strip())


def test_sizes_of_the_page() -> None:
    """What the table says a driver holds is what the driver says."""
    rows = re.findall(
        r"^\| ([\d,]+) \| ([\d,]+) \| ([\d.]+) GB \| ([\d.]+) GB", PAGE.read_text(), re.M
    )
    assert len(rows) >= 5
    for topics, words, alone, stream in rows:
        size = int(topics.replace(",", "")), int(words.replace(",", ""))
        assert float(alone) == driver_bytes(*size, mean=False) / 1e9
        assert float(stream) == driver_bytes(*size) / 1e9
