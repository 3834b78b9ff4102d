"""The OpenAPI document: that it is true, whole, and good to read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from coderunner.server import create_app
from coderunner.settings import Settings
from coderunner.settings.server import CALLERS_CEILING as CEILING
from scripts.schemas import FOLDER, openapi_text
from tests.server.conftest import Service, ServiceMaker

Json = dict[str, Any]
_EFFORT = os.environ.get("SCHEMATHESIS_EXAMPLES", "2")


@pytest.fixture(scope="module")
def document() -> Json:
    found: Json = json.loads(openapi_text())
    return found


@pytest.mark.unit
def test_what_is_published_is_true() -> None:
    """After a change: `python scripts/schemas.py` writes it anew."""
    assert (FOLDER / "openapi.json").read_text() == openapi_text()


@pytest.mark.unit
def test_every_operation_is_described(document: Json) -> None:
    for where, operation in operations(document):
        assert operation.get("summary"), where
        assert operation.get("description"), where
        assert operation["tags"][0] in {tag["name"] for tag in document["tags"]}, where
        assert {"401", "421", "429"} <= operation["responses"].keys(), where
        if "requestBody" in operation:
            assert {"400", "413", "415", "422", "503"} <= operation["responses"].keys(), where


@pytest.mark.unit
def test_every_field_has_words_or_an_example(document: Json) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, described in schema.get("properties", {}).items():
            told = described.keys() & {"description", "examples", "$ref", "const"}
            assert told, f"{name}.{field}"


@pytest.mark.unit
def test_every_error_is_a_problem(document: Json) -> None:
    for where, operation in operations(document):
        for status, response in operation["responses"].items():
            if status[0] in "45" and status != "500":
                content = resolved(document, response)["content"]
                assert list(content) == ["application/problem+json"], (where, status)


@pytest.mark.unit
def test_everything_it_refers_to_is_there(document: Json) -> None:
    found = list(references(document))
    assert found
    for reference in found:
        resolved(document, {"$ref": reference})


@pytest.mark.unit
def test_every_name_of_an_operation_is_its_own(document: Json) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(names)) == len(names)


@pytest.mark.unit
def test_it_tells_the_ceiling_of_this_service() -> None:
    settings = Settings()
    lower = settings.server.model_copy(update={"ceiling": CEILING.but({"wall_ms": 1234})})
    told = create_app(settings.model_copy(update={"server": lower})).openapi()
    limits = told["components"]["schemas"]["GivenLimits"]["properties"]
    assert (limits["wall_ms"]["maximum"], limits["wall_ms"]["exclusiveMinimum"]) == (1234, 0)
    assert limits["memory_mb"]["maximum"] == CEILING.memory_mb
    assert "maximum" not in limits["cpus"]  # what has no limit gets none from elsewhere


@pytest.mark.integration
def test_the_service_serves_it_and_no_page_of_scripts(client: httpx.Client) -> None:
    assert client.get("/openapi.json").json()["info"]["title"] == "CodeRunner"
    for page in ("/docs", "/redoc"):
        assert client.get(page).status_code == 404


@pytest.mark.integration
def test_the_examples_are_good(client: httpx.Client, document: Json) -> None:
    """The programs that it shows run, and come out as it says."""
    for path in ("/v1/run", "/v1/judge"):
        schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
        response = client.post(path, json=schema["example"])
        assert response.status_code == 200, response.text
        said = response.json()
        assert said.get("ok", said.get("status") == "all_passed"), said


@pytest.mark.integration
def test_figures_go_by_whole_paths(v1: Service) -> None:
    v1.client.get("/v1/languages")
    assert 'route="/v1/languages"' in v1.client.get("/metrics").text


@pytest.mark.integration
def test_whatever_the_document_allows_is_answered_as_it_says(
    serve: ServiceMaker, tmp_path: Path
) -> None:
    """The same requests each time. More: SCHEMATHESIS_EXAMPLES=200 and this test alone."""
    service = serve(
        prestart=["python"],
        ceiling={"wall_ms": 1000},
        judge_tests=5,
        client_rate=100_000,
        client_burst=100_000,
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"),
            *("--include-path-regex", "^/(v1/(run|judge|languages)|health|execute)"),
            *("--phases", "examples,fuzzing", "--max-examples", _EFFORT),
            "--generation-deterministic",
            *("--suppress-health-check", "all", "--no-color"),
            *("--checks", "not_a_server_error,status_code_conformance,content_type_conformance"),
            *("--checks", "response_schema_conformance,negative_data_rejection"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


def operations(document: Json) -> Iterator[tuple[str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def resolved(document: Json, value: Json) -> Json:
    if "$ref" not in value:
        return value
    found = document
    for part in value["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return found
