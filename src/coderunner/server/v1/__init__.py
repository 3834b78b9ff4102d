"""`/v1`: all that the library can, over HTTP.

asked.py      what may be asked for: a program, its input, its limits
order.py      checked against what this service allows
carrying.py   carried out: build, run, the facts
following.py  the same, told while it goes on
(answers.py   what is answered: beside what writes it, for clients read it, too)

run.py        POST /v1/run: in one go, or live
judge.py      POST /v1/judge
languages.py  GET /v1/languages
sessions/     /v1/sessions
live/         /v1/live

Each of them has the whole path in its router: the figures of `/metrics` go by that.
"""

from __future__ import annotations

from fastapi import APIRouter

from coderunner.server.v1 import judge, languages, run
from coderunner.server.v1.live import route as live
from coderunner.server.v1.sessions import routes as sessions

router = APIRouter()
for part in (run, judge, languages, sessions, live):
    router.include_router(part.router)
