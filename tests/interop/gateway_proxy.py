# SPDX-License-Identifier: MIT
"""A proxy in front of the gateway, with TLS or without: it records each
request with its headers and its body, and forwards it."""

import http.client
import http.server
import ssl
import threading

SUM = "x-amz-checksum-crc32c"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in ("connection", "transfer-encoding",
                                    "content-length"):
                self.send_header(name, value)
        # The length in a response to HEAD is that of the object.
        lengths = [v for n, v in headers if n.lower() == "content-length"]
        self.send_header("Content-Length", lengths[0] if lengths and
                         self.command == "HEAD" else str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        has_sum = any(n.lower().startswith("x-amz-checksum")
                      for n in self.headers)
        server.seen.append((self.command, self.path, dict(self.headers),
                            body))
        server.before(self.command, self.path)
        if has_sum and server.refuses:
            text = b"<Error><Code>NotImplemented</Code></Error>"
            return self.answer(501, [], text)
        link = http.client.HTTPConnection("127.0.0.1", server.backend_port)
        link.request(self.command, self.path, body, dict(self.headers))
        got = link.getresponse()
        self.answer(got.status, got.getheaders() + self.checksum_headers(),
                    got.read())
        link.close()

    def checksum_headers(self):
        """Returns the checksum headers that AWS returns and Ceph, which does
        not check them, leaves out."""
        return [(SUM, self.headers[SUM])] if self.headers.get(SUM) else []

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = handle_any


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # More connections at once would be tried again after a second.
    request_queue_size = 128

    def __init__(self, gateway, secure, handler=Handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.backend_port, self.seen, self.refuses = gateway.port, [], False
        self.before = lambda command, path: None
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(gateway.folder / "rgw.pem")
            self.socket = context.wrap_socket(
                self.socket, server_side=True,
                do_handshake_on_connect=False)
        self.url = (f"http{'s' * secure}://127.0.0.1:"
                    f"{self.server_address[1]}")
        # shutdown waits for the end of an interval, else half a second.
        threading.Thread(target=self.serve_forever, daemon=True,
                         kwargs={"poll_interval": 0.01}).start()

    def handle_error(self, *_):
        """Ignores errors of connections."""
