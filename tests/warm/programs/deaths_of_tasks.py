# Tasks that were never finished are complained about.
import asyncio


async def never():
    await asyncio.Event().wait()


loop = asyncio.new_event_loop()
asyncio.set_event_loop(loop)
task = loop.create_task(never(), name="never")
loop.run_until_complete(asyncio.sleep(0))
print("end")
