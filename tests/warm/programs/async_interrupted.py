# SIGINT in the middle of asyncio.run.
import asyncio
import os
import signal


async def main():
    asyncio.get_running_loop().call_later(0.02, os.kill, os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(10)
    finally:
        print("cancelled")


asyncio.run(main())
