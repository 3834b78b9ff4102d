"""The client of the HTTP service: the library's results and errors, from another machine.

from coderunner import Client

with Client("http://127.0.0.1:8000") as client:
    assert client.run("print(6 * 7)").stdout == "42\\n"

What is said is the same for everybody; two drivers say it, one blocking and one with asyncio.

address.py     where the service is, and the token that it wants
steps.py       what a conversation is made of: send, read, wait, tell
exchange.py    one request: retries, answers, errors
refusals.py    from a problem to the library's error
asking.py      from a program to what is sent
results.py     from what is answered to the library's types
events.py relay.py           live output: read as it comes; made exact
runs.py sessions.py calls.py the conversations
transport.py                 httpx: how it is set up, what its errors mean
blocking.py asynchronous.py  the drivers: Client, AsyncClient
"""
