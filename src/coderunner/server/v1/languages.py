"""`GET /v1/languages`: what can be run here."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from coderunner.answers import LanguageAnswer, LanguagesAnswer
from coderunner.server.service import Service, service_of
from coderunner.survey import Finding

router = APIRouter(prefix="/v1", tags=["languages"])


@router.get("/languages", summary="List the languages")
async def languages(service: Annotated[Service, Depends(service_of)]) -> LanguagesAnswer:
    """The languages of this service, by name."""
    findings = await service.surveyed.findings(service.workers.in_use)
    warm = await service.workers.warm()
    return LanguagesAnswer(
        languages=[_answer(finding, finding.language.name in warm) for finding in findings]
    )


def _answer(finding: Finding, warm: bool) -> LanguageAnswer:
    language, toolchain = finding.language, finding.toolchain
    known = toolchain is not None or finding.missing is not None
    return LanguageAnswer(
        name=language.name,
        title=language.title,
        aliases=list(language.aliases),
        extensions=list(language.extensions),
        version=toolchain.version if toolchain else None,
        available=toolchain is not None if known else None,
        warm=warm,
    )
