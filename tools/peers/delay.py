# SPDX-License-Identifier: MIT
"""Simulates a remote link to a server on this machine: adds a fixed delay each
way, limits the rate, and counts the traffic.

Runs in a thread of the measuring process.  A new connection costs one more
round trip, as TCP's handshake does.  The rate limits all connections together,
from the server to the client.

As a program, delay.py PORT MS is a link in a process of its own, that delays
by so much each way: it prints its port, and ends at the end of its input.
"""

import asyncio
import re
import sys
import threading

REQUEST = re.compile(rb"(?:GET|PUT|HEAD|POST|DELETE) [^\r\n]* HTTP/1\.[01]\r\n")
PIECE_NBYTES = 1 << 16


class Link:
    def __init__(self, target_port, one_way_s=0.0, rate_bytes_s=0):
        self.target, self.delay_s = target_port, one_way_s
        self.rate = rate_bytes_s
        self.free_s = 0.0           # when all data sent so far have arrived
        self.requests = self.nbytes = self.connections = 0
        self.loop = asyncio.new_event_loop()
        ready = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(ready,),
                                       daemon=True)
        self.thread.start()
        ready.wait()

    def run(self, ready):
        asyncio.set_event_loop(self.loop)
        self.server = self.loop.run_until_complete(
            asyncio.start_server(self.connect, "127.0.0.1", 0))
        self.port = self.server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()
        tasks = asyncio.all_tasks(self.loop)
        for task in tasks:
            task.cancel()
        self.loop.run_until_complete(
            asyncio.gather(*tasks, return_exceptions=True))
        self.loop.close()

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()

    def take_counts(self):
        """Returns requests, received bytes and connections since the last
        call."""
        counts = self.requests, self.nbytes, self.connections
        self.requests = self.nbytes = self.connections = 0
        return counts

    def arrival_s(self, nbytes, is_up):
        """Returns the time at which nbytes sent now arrive at the other
        end."""
        now = self.loop.time()
        if self.rate and not is_up:
            self.free_s = max(self.free_s, now) + nbytes / self.rate
            now = self.free_s
        return now + self.delay_s

    async def deliver(self, queue, writer):
        while True:
            at_s, piece = await queue.get()
            await asyncio.sleep(max(0, at_s - self.loop.time()))
            if piece is None:
                break
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    async def carry(self, reader, writer, is_up):
        queue = asyncio.Queue(64)
        delivery = asyncio.create_task(self.deliver(queue, writer))
        try:
            while piece := await reader.read(PIECE_NBYTES):
                if is_up:
                    self.requests += len(REQUEST.findall(piece))
                else:
                    self.nbytes += len(piece)
                await queue.put((self.arrival_s(len(piece), is_up), piece))
            await queue.put((self.loop.time() + self.delay_s, None))
            await delivery
        except OSError:
            delivery.cancel()

    async def connect(self, reader, writer):
        self.connections += 1
        try:
            await asyncio.sleep(2 * self.delay_s)
            there = await asyncio.open_connection("127.0.0.1", self.target)
            await asyncio.gather(self.carry(reader, there[1], True),
                                 self.carry(there[0], writer, False))
            there[1].close()
        except (OSError, asyncio.CancelledError):
            pass
        writer.close()


def main():
    link = Link(int(sys.argv[1]), float(sys.argv[2]) / 1000)
    print(link.port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
