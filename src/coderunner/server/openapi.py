"""The OpenAPI document: what FastAPI knows of the routes, and what it does not.

It does not know that errors are problem details, what is said before a route is reached (Door), who
needs a token, and how much this service allows.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from coderunner.server import problems
from coderunner.server.ceiling import ceiling_of
from coderunner.server.judge_words import WORDS
from coderunner.settings import Settings

Json = dict[str, Any]

_SECURITY: list[Json] = [{}, {"token": []}]
_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "Needed by everybody who is not on the same machine as the service.",
}
_TAGS = {
    "run": "Programs, with files, input, arguments and limits.",
    "judge": "Programs against test cases.",
    "languages": "What can be run here.",
    "sessions": "Interpreters that stay, and cells that are run in them.",
    "execute": "The simplest door: code in, output out.",
    "service": "How the service itself does.",
}
_PROBLEM = "#/components/schemas/ProblemDetails"
_NOT_A_PROBLEM = "#/components/schemas/HTTPValidationError"
_ANYWHERE = {
    "401": "You are not on this machine, and have shown no token, or one that is none.",
    "403": "A page of this origin may not call the service.",
    "421": "The service is not known by the name that you have called it.",
    "429": "You ask too much at once, or too often. `Retry-After` says when to come back.",
}
_WITH_BODY = {
    "400": "The body is not JSON.",
    "408": "The body did not arrive in time.",
    "413": "The body is too long, or has too many values.",
    "415": "The body is not said to be JSON.",
    "422": "What was asked for makes no sense, or is more than this service allows.",
    "503": "The service is busy (`Retry-After` says when to come back), or its engine has failed.",
}


def describe(app: FastAPI, settings: Settings) -> None:
    """From here on this is its document. It is made when somebody asks for it."""

    def openapi() -> Json:
        if app.openapi_schema is None:
            app.openapi_schema = document(app, settings)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def document(app: FastAPI, settings: Settings) -> Json:
    made = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
    )
    components = made["components"]
    components["securitySchemes"] = {"token": _TOKEN}
    components["schemas"] |= _problem_schemas()
    components["schemas"].pop("HTTPValidationError", None)
    components["schemas"].pop("ValidationError", None)
    components["responses"] = {
        _name(status): _as_problem(text) for status, text in {**_ANYWHERE, **_WITH_BODY}.items()
    }
    made["security"] = _SECURITY
    for path in made["paths"].values():
        for operation in path.values():
            _complete(operation)
    _put_words(components["schemas"])
    _put_ceiling(components["schemas"]["GivenLimits"], settings)
    return made


def _problem_schemas() -> Json:
    made = problems.ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**made.pop("$defs"), "ProblemDetails": made}


def _complete(operation: Json) -> None:
    said = {status: _with_problem(response) for status, response in operation["responses"].items()}
    usual = {**_ANYWHERE, **(_WITH_BODY if "requestBody" in operation else {})}
    references = {status: {"$ref": f"#/components/responses/{_name(status)}"} for status in usual}
    own = {status: response for status, response in said.items() if response}
    operation["responses"] = dict(sorted({**references, **own}.items()))


def _with_problem(response: Json) -> Json:
    """FastAPI takes all that is described by a model for JSON. Empty: it is described elsewhere."""
    content = response.get("content", {}).get("application/json", {})
    match content.get("schema", {}).get("$ref"):
        case str(reference) if reference == _PROBLEM:
            return _as_problem(response["description"])
        case str(reference) if reference == _NOT_A_PROBLEM:
            return {}
    return response


def _as_problem(text: str) -> Json:
    return {
        "description": text,
        "content": {problems.MEDIA_TYPE: {"schema": {"$ref": _PROBLEM}}},
    }


def _name(status: str) -> str:
    return f"Problem{status}"


def _put_words(schemas: Json) -> None:
    for name, words in WORDS.items():
        for field, text in words.items():
            schemas[name]["properties"][field].setdefault("description", text)


def _put_ceiling(limits: Json, settings: Settings) -> None:
    """What was configured, where callers look for it."""
    ceiling = ceiling_of(settings)
    for name, schema in limits["properties"].items():
        most = getattr(ceiling, name)
        if most is not None:
            schema["maximum"] = most
