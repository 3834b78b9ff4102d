import asyncio

async def g():
    await asyncio.sleep(0)
    return 1

async def h():
    return (await asyncio.gather(g(), g()))[0]

def f():
    return asyncio.run(h())
