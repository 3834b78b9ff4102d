# An ordinary asyncio program, with a signal and a subprocess.
import asyncio
import os
import signal
import sys


async def work(n):
    await asyncio.sleep(0.001 * n)
    return n


async def main():
    print(await asyncio.gather(*map(work, range(4))))
    loop = asyncio.get_running_loop()
    heard = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, heard.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await heard.wait()
    process = await asyncio.create_subprocess_exec("echo", "hello", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0], process.returncode)
    print(await asyncio.to_thread(lambda: 5), type(loop).__name__)
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError as error:
        print(repr(error))
    async with asyncio.TaskGroup() as group:
        group.create_task(work(1))
        raise ValueError("in a group")


asyncio.run(main())
