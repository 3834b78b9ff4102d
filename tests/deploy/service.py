"""What deploy/ says of the service, read."""

from __future__ import annotations

from typing import Any

import yaml

from tests.support import ROOT

DEPLOY = ROOT / "deploy"


def compose() -> dict[str, Any]:
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    service: dict[str, Any] = document["services"]["service"]
    return service


def security_options() -> dict[str, str]:
    return dict(option.split("=", 1) for option in compose()["security_opt"])


def kubernetes() -> dict[str, Any]:
    """The manifests, by kind."""
    text = (DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = kubernetes()["Deployment"]["spec"]["template"]["spec"]
    return spec


def unit() -> dict[str, list[str]]:
    """The options of all sections, each with its values."""
    found: dict[str, list[str]] = {}
    for line in (DEPLOY / "coderunner.service").read_text(encoding="utf-8").splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found.setdefault(name, []).append(value)
    return found
