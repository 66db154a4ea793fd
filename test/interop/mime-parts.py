"""Prints what Python's email package finds in messages: for each, its parts in order as type, subtype, encoding and body."""
import base64
import email
import json
import sys


def parts(message):
    for part in message.walk():
        if part.is_multipart():
            yield [part.get_content_maintype(), part.get_content_subtype(), None]
        else:
            body = part.get_payload().encode("ascii")
            yield [part.get_content_maintype(), part.get_content_subtype(), base64.b64encode(body).decode()]


json.dump(
    [list(parts(email.message_from_bytes(base64.b64decode(text)))) for text in json.load(sys.stdin)],
    sys.stdout,
)
