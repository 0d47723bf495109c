# SPDX-License-Identifier: MIT
"""A web server of a folder, which can let a request wait, and over TLS."""
import os
import signal
import ssl
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    """Serves a folder inside its with statement; a request whose path contains
    interrupts is answered after a signal has come to this process, and proceed
    is set."""

    daemon_threads = True

    def __init__(self, folder, certificate=None):
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=folder))
        scheme = "http"
        if certificate:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"{scheme}://127.0.0.1:{self.server_port}/examples.zarr"
        self.folder = folder
        self.interrupts = None
        self.proceed = threading.Event()

    def __enter__(self):
        # Its end waits as long for a look at whether it has come: in seconds.
        self.thread = threading.Thread(target=self.serve_forever, args=[0.01])
        self.thread.start()
        return super().__enter__()

    def __exit__(self, *exception):
        self.proceed.set()
        self.shutdown()
        self.thread.join()
        super().__exit__(*exception)


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            self.send_error(404)
            return
        if self.server.interrupts and self.server.interrupts in path:
            os.kill(os.getpid(), signal.SIGINT)
            self.server.proceed.wait()
        with open(path, "rb") as file:
            data = file.read()
        wanted = self.headers.get("Range")
        status, size = 200, len(data)
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            status = 206
            start = int(first) if first else size - int(last)
            stop = int(last) + 1 if first and last else size
            data = data[start:stop]
        self.send_response(status)
        if wanted:
            self.send_header("Content-Range",
                             f"bytes {start}-{start + len(data) - 1}/{size}")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
