"""Send an email and wait for its result: SERVICE_API_KEY and SERVICE_BASE_URL name the daemon."""

import time

from postrider import Client, PostriderError

with Client() as client:
    try:
        sent = client.emails.send(
            from_="hello@sandbox.localhost",
            to=["delivered@simulator.localhost"],
            subject="Hello",
            html="<p>It works.</p>",
            type="transactional",
            attachments=[{"filename": "note.txt", "content": b"An attachment."}],
        )
    except PostriderError as error:
        raise SystemExit(f"{error.type}: {error.message}")
    email = client.emails.get(sent.id)
    for _ in range(50):
        if email.status == "delivered":
            break
        time.sleep(0.1)
        email = client.emails.get(sent.id)
    print(email.id, email.status)
