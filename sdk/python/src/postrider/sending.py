"""Sending: emails, broadcasts, templates, domains, and what reports about them."""

from typing import Any, Mapping, Sequence, Union

from . import webhooks as signatures
from .objects import Object
from .pages import Page
from .resource import ABSENT, Options, Resource, Run
from .streams import Stream


class Approvals(Resource):
    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an approval."""
        return self._json(options, "GET", "approvals", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List approvals."""
        return self._page(options, query, "approvals")


class Branding(Resource):
    def delete(self, *, options: Options = None) -> None:
        """Delete the branding."""
        return self._delete(options, "branding")

    def get(self, *, options: Options = None) -> Object:
        """Retrieve the branding."""
        return self._json(options, "GET", "branding")

    def preview(self, *, options: Options = None, **fields: Any) -> Object:
        """Preview the branding."""
        return self._json(options, "POST", "branding", "preview", body=fields)

    def update(self, *, options: Options = None, **fields: Any) -> Object:
        """Set the branding."""
        return self._json(options, "PUT", "branding", body=fields)


class Broadcasts(Resource):
    def approve(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Approve a broadcast."""
        return self._json(options, "POST", "broadcasts", id, "approve", body=fields)

    def cancel(self, id: str, /, *, options: Options = None) -> Object:
        """Cancel a broadcast."""
        return self._json(options, "POST", "broadcasts", id, "cancel")

    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create a broadcast."""
        return self._json(options, "POST", "broadcasts", body=fields)

    def decline(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Decline a broadcast."""
        return self._json(options, "POST", "broadcasts", id, "decline", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a broadcast."""
        return self._delete(options, "broadcasts", id)

    def export_clicked_links(self, id: str, /, *, options: Options = None) -> Object:
        """Export the tracked links of a broadcast to a CSV file."""
        return self._json(options, "POST", "broadcasts", id, "clicked-links", "exports")

    def export_recipients(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Export the recipients of a broadcast to a CSV file."""
        return self._json(options, "POST", "broadcasts", id, "recipients", "exports", body=fields or None)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a broadcast."""
        return self._json(options, "GET", "broadcasts", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List broadcasts."""
        return self._page(options, query, "broadcasts")

    def list_clicked_links(self, id: str, /, *, options: Options = None) -> Page:
        """List the tracked links of a broadcast."""
        return self._page(options, {}, "broadcasts", id, "clicked-links")

    def list_providers(self, id: str, /, *, options: Options = None) -> Page:
        """Count the recipients of a broadcast by provider."""
        return self._page(options, {}, "broadcasts", id, "providers")

    def list_recipients(self, id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List the recipients of a broadcast."""
        return self._page(options, query, "broadcasts", id, "recipients")

    def pause(self, id: str, /, *, options: Options = None) -> Object:
        """Pause a broadcast."""
        return self._json(options, "POST", "broadcasts", id, "pause")

    def preflight(self, id: str, /, *, options: Options = None) -> Object:
        """Show what a broadcast will be."""
        return self._json(options, "GET", "broadcasts", id, "preflight")

    def preview(self, id: str, /, *, options: Options = None, **query: Any) -> Object:
        """Show a broadcast as a contact would read it."""
        return self._json(options, "GET", "broadcasts", id, "preview", query=query)

    def resume(self, id: str, /, *, options: Options = None) -> Object:
        """Resume a paused broadcast."""
        return self._json(options, "POST", "broadcasts", id, "resume")

    def send(self, id: str, /, *, options: Options = None) -> Object:
        """Send a broadcast."""
        return self._json(options, "POST", "broadcasts", id, "send")

    def test(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Send a test of a broadcast."""
        return self._json(options, "POST", "broadcasts", id, "test", body=fields)

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a broadcast."""
        return self._json(options, "PATCH", "broadcasts", id, body=fields)


class Domains(Resource):
    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create a domain."""
        return self._json(options, "POST", "domains", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a domain."""
        return self._delete(options, "domains", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a domain."""
        return self._json(options, "GET", "domains", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List domains."""
        return self._page(options, query, "domains")

    def list_reports(self, id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List reports about a domain."""
        return self._page(options, query, "domains", id, "reports")

    def rotate_dkim(self, id: str, /, *, options: Options = None) -> Object:
        """Rotate the DKIM keys of a domain."""
        return self._json(options, "POST", "domains", id, "rotate-dkim")

    def sum_reports(self, id: str, /, *, options: Options = None, **query: Any) -> Object:
        """Sum reports about a domain by day."""
        return self._json(options, "GET", "domains", id, "reports", "days", query=query)

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a domain."""
        return self._json(options, "PATCH", "domains", id, body=fields)

    def verify(self, id: str, /, *, options: Options = None) -> Object:
        """Verify a domain."""
        return self._json(options, "POST", "domains", id, "verify")


class Emails(Resource):
    def approve(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Approve an email."""
        return self._json(options, "POST", "emails", id, "approve", body=fields)

    def cancel(self, id: str, /, *, options: Options = None) -> Object:
        """Cancel an email."""
        return self._json(options, "POST", "emails", id, "cancel")

    def check(self, id: str, /, *, options: Options = None, **query: Any) -> Object:
        """Check an email."""
        return self._json(options, "GET", "emails", id, "check", query=query)

    def decline(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Decline an email."""
        return self._json(options, "POST", "emails", id, "decline", body=fields)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an email."""
        return self._json(options, "GET", "emails", id)

    def get_attachment(self, id: str, number: Union[int, str], /, *, options: Options = None) -> Stream:
        """Download an attachment of an email."""
        return self._stream(options, {}, "emails", id, "attachments", number)

    def get_attempts(self, id: str, /, *, options: Options = None) -> Object:
        """List the delivery attempts of an email."""
        return self._json(options, "GET", "emails", id, "attempts")

    def get_raw(self, id: str, /, *, options: Options = None, **query: Any) -> Stream:
        """Download an email."""
        return self._stream(options, query, "emails", id, "raw")

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List emails."""
        return self._page(options, query, "emails")

    def reschedule(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Reschedule an email."""
        return self._json(options, "PATCH", "emails", id, body=fields)

    def search_subjects(self, *, options: Options = None, **query: Any) -> Object:
        """Search subjects."""
        return self._json(options, "GET", "emails", "subjects", query=query)

    def send(
        self,
        *,
        from_: str,
        to: Union[str, Sequence[str]],
        subject: str,
        type: str,
        html: str = ABSENT,
        text: str = ABSENT,
        cc: Union[str, Sequence[str]] = ABSENT,
        bcc: Union[str, Sequence[str]] = ABSENT,
        reply_to: Union[str, Sequence[str]] = ABSENT,
        headers: Mapping[str, str] = ABSENT,
        attachments: Sequence[Mapping[str, Any]] = ABSENT,
        tags: Mapping[str, str] = ABSENT,
        scheduled_at: Any = ABSENT,
        template_id: str = ABSENT,
        variables: Mapping[str, Any] = ABSENT,
        topic_id: str = ABSENT,
        options: Options = None,
        **fields: Any,
    ) -> Object:
        """Send an email. The result has the idempotency key, with which the call can be repeated later.

        ``content`` of an attachment may be base64 in a string, bytes, a path, a file that is open in binary mode, or an iterator of bytes.
        ``scheduled_at`` may be a ``datetime`` with a time zone.
        """
        fields.update(from_=from_, to=to, subject=subject, type=type, html=html, text=text, cc=cc, bcc=bcc, reply_to=reply_to)
        fields.update(headers=headers, attachments=attachments, tags=tags, scheduled_at=scheduled_at, template_id=template_id)
        return self._json(options, "POST", "emails", body={**fields, "variables": variables, "topic_id": topic_id})

    def send_batch(self, *, emails: Sequence[Mapping[str, Any]], options: Options = None, **fields: Any) -> Object:
        """Send up to 100 emails. Each has the names of the wire, such as ``replyTo``."""
        return self._json(options, "POST", "emails", "batch", body={**fields, "emails": emails})


class Metrics(Resource):
    def get(self, *, options: Options = None, **query: Any) -> Object:
        """Count what became of your mail."""
        return self._json(options, "GET", "metrics", query=query)


class Simulator(Resource):
    def delete_reply(self, *, options: Options = None) -> None:
        """Remove the reply of the simulator."""
        return self._delete(options, "simulator", "reply")

    def get_reply(self, *, options: Options = None) -> Object:
        """Retrieve the reply of the simulator."""
        return self._json(options, "GET", "simulator", "reply")

    def set_reply(self, *, options: Options = None, **fields: Any) -> Object:
        """Choose the reply of the simulator."""
        return self._json(options, "PUT", "simulator", "reply", body=fields)


class TemplatesVersions(Resource):
    def get(self, template_id: str, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a template version."""
        return self._json(options, "GET", "templates", template_id, "versions", id)

    def list(self, template_id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List template versions."""
        return self._page(options, query, "templates", template_id, "versions")

    def restore(self, template_id: str, id: str, /, *, options: Options = None) -> Object:
        """Restore a template version."""
        return self._json(options, "POST", "templates", template_id, "versions", id, "restore")


class Templates(Resource):
    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.versions = TemplatesVersions(run)

    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create a template."""
        return self._json(options, "POST", "templates", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a template."""
        return self._delete(options, "templates", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a template."""
        return self._json(options, "GET", "templates", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List templates."""
        return self._page(options, query, "templates")

    def preview(self, *, options: Options = None, **fields: Any) -> Object:
        """Preview a template."""
        return self._json(options, "POST", "templates", "preview", body=fields)

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a template."""
        return self._json(options, "PATCH", "templates", id, body=fields)


class WebhooksDeliveries(Resource):
    def get(self, webhook_id: str, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a webhook delivery."""
        return self._json(options, "GET", "webhooks", webhook_id, "deliveries", id)

    def list(self, webhook_id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List webhook deliveries."""
        return self._page(options, query, "webhooks", webhook_id, "deliveries")

    def replay(self, webhook_id: str, id: str, /, *, options: Options = None) -> Object:
        """Post a delivery again."""
        return self._json(options, "POST", "webhooks", webhook_id, "deliveries", id, "replay")


class Webhooks(Resource):
    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.deliveries = WebhooksDeliveries(run)

    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create a webhook endpoint."""
        return self._json(options, "POST", "webhooks", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a webhook endpoint."""
        return self._delete(options, "webhooks", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a webhook endpoint."""
        return self._json(options, "GET", "webhooks", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List webhook endpoints."""
        return self._page(options, query, "webhooks")

    def replay(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Post failed and skipped deliveries again."""
        return self._json(options, "POST", "webhooks", id, "replay", body=fields)

    def rotate_secret(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Replace the secret of a webhook endpoint."""
        return self._json(options, "POST", "webhooks", id, "rotate-secret", body=fields or None)

    def test(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Post a sample event to a webhook endpoint."""
        return self._json(options, "POST", "webhooks", id, "test", body=fields or None)

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a webhook endpoint."""
        return self._json(options, "PATCH", "webhooks", id, body=fields)

    verify = staticmethod(signatures.verify)
    sign = staticmethod(signatures.sign)
