"""Receive webhooks. WEBHOOK_SECRET is the secret of the endpoint, and PORT the port to listen on.

``verify_by_hand`` does the four steps of the specification without the library, which does the same in ``webhooks.verify``.
"""

import hashlib
import hmac
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

from postrider import PostriderError, webhooks

SECRET = os.environ["WEBHOOK_SECRET"]


def verify_by_hand(body: bytes, header: str, secret: str) -> bool:
    # 1. Take the time and the signatures from the header. Without them it is refused.
    parts = [part.strip().partition("=") for part in header.split(",")]
    moments = [value for name, _, value in parts if name == "t" and value.isascii() and value.isdigit()]
    signatures = [value for name, _, value in parts if name == "v1"]
    if not moments or not signatures:
        return False
    # 2. Refuse a time that is more than 300 seconds off.
    if abs(int(time.time()) - int(moments[0])) > 300:
        return False
    # 3. Compute the HMAC-SHA256 of the time, a full stop and the raw body.
    expected = hmac.new(secret.encode(), moments[0].encode() + b"." + body, hashlib.sha256).hexdigest()
    # 4. Compare in constant time.
    return any(hmac.compare_digest(signature.encode(), expected.encode()) for signature in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        header = self.headers.get("X-Service-Signature")
        try:
            event = webhooks.verify(body, header, SECRET)
        except PostriderError as error:
            print("refused:", error.message, verify_by_hand(body, header or "", SECRET), flush=True)
            self.send_response(400)
        else:
            print(event.type, event.get("data"), verify_by_hand(body, header, SECRET), flush=True)
            self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Every event is printed already."""


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8090"))), Receiver).serve_forever()
