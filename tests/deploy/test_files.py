"""What deploy/ says stays true: names and numbers are those of the code, and no right is more than
what boxes are made of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from coderunner.settings import ServerSettings, Settings
from coderunner.settings.environment import name_of
from coderunner.settings.keys import all_keys
from scripts.service_filter import FILE, document
from tests.deploy.service import DEPLOY, compose, kubernetes, pod, security_options, unit

pytestmark = pytest.mark.unit

SERVER = ServerSettings()
FILES = sorted(path for path in DEPLOY.iterdir() if path.name != "seccomp.json")
_NO_SETTINGS = {"CODERUNNER_TOKEN"}  # of the file itself


def test_the_filter_is_the_one_of_the_table() -> None:
    """After a change: `python scripts/service_filter.py` writes it anew."""
    assert FILE.read_text(encoding="utf-8") == document()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_variables_are_settings(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = set(re.findall(r"CODERUNNER_[A-Z_]+", text)) - _NO_SETTINGS
    assert named <= {name_of(key) for key in all_keys(Settings)}


def test_one_user_everywhere() -> None:
    security = pod()["containers"][0]["securityContext"]
    user = f"{security['runAsUser']}:{security['runAsGroup']}"
    assert security["runAsNonRoot"]
    assert compose()["user"] == user
    assert f"USER {user}\n" in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert unit()["DynamicUser"] == ["yes"]


def test_one_port_everywhere() -> None:
    port = SERVER.port
    assert compose()["ports"] == [f"127.0.0.1:{port}:{port}"]
    assert pod()["containers"][0]["ports"][0]["containerPort"] == port
    assert kubernetes()["Service"]["spec"]["ports"][0]["port"] == port
    assert f"EXPOSE {port}\n" in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    probes = [compose()["healthcheck"]["test"][-1]]
    container = pod()["containers"][0]
    for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
        probes.append(container[kind]["exec"]["command"][-1])
    assert all(f"http://127.0.0.1:{port}/health" in probe for probe in probes)


def test_there_is_time_to_end() -> None:
    patience = [
        int(compose()["stop_grace_period"].removesuffix("s")),
        pod()["terminationGracePeriodSeconds"],
        int(unit()["TimeoutStopSec"][0]),
    ]
    assert min(patience) > SERVER.drain_seconds


def test_no_more_rights_in_compose() -> None:
    service = compose()
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"]
    extra = {"privileged", "cap_add", "devices", "pid", "network_mode", "userns_mode", "volumes"}
    assert not extra & set(service)
    options = security_options()
    assert options.pop("no-new-privileges") == "true"
    assert DEPLOY / options.pop("seccomp") == FILE
    assert options == {
        "systempaths": "unconfined",
        "apparmor": "unconfined",
        "writable-cgroups": "true",
    }


def test_no_more_rights_in_kubernetes() -> None:
    spec = pod()
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec)
    assert (spec["hostUsers"], spec["automountServiceAccountToken"]) == (False, False)
    assert not spec["enableServiceLinks"], "it would set variables that look like settings"
    security = spec["containers"][0]["securityContext"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert not security["allowPrivilegeEscalation"]
    assert security["readOnlyRootFilesystem"]
    assert security["seccompProfile"]["type"] == "Localhost"


def test_the_labels_of_kubernetes_find_each_other() -> None:
    deployment, service = kubernetes()["Deployment"], kubernetes()["Service"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels
    assert service["spec"]["selector"] == labels


def test_the_unit_leaves_out_what_no_box_can_be_made_with() -> None:
    options = unit()
    left_out = {
        "RestrictNamespaces",
        "PrivateUsers",
        "ProtectKernelTunables",
        "ProtectKernelLogs",
        "ProcSubset",
        "ProtectControlGroups",
        "ProtectHostname",
        "MemoryDenyWriteExecute",
        "SystemCallFilter",
    }
    assert not left_out & set(options)
    assert options["CapabilityBoundingSet"] == [""]
    assert set(options["Delegate"][0].split()) == {"cpu", "memory", "pids"}
    assert options["ExecStart"] == ["/opt/coderunner/bin/coderunner serve"]


def test_the_documents_say_each_right() -> None:
    text = (DEPLOY.parent / "docs" / "deploy.md").read_text(encoding="utf-8")
    for option in security_options():
        assert f"`{option}" in text
    assert yaml.safe_dump(compose())  # nothing that only our reader understands
