"""`/v1`: all that the library can, over HTTP.

asked.py      what may be asked for: a program, its input, its limits
order.py      checked against what this service allows
carrying.py   carried out: build, run, the facts
following.py  the same, told while it goes on
answers.py    what is answered

run.py        POST /v1/run: in one go, or live
sessions/     /v1/sessions
live/         /v1/live
"""

from __future__ import annotations

from fastapi import APIRouter

from coderunner.server.reading import JsonRoute
from coderunner.server.v1 import run
from coderunner.server.v1.live import route as live
from coderunner.server.v1.sessions import routes as sessions

router = APIRouter(prefix="/v1", route_class=JsonRoute)
router.include_router(run.router)
router.include_router(sessions.router)
router.include_router(live.router)
