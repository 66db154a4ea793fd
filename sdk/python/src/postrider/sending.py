"""Sending: emails, broadcasts, templates, domains, and what reports about them."""

from . import webhooks as signatures
from .resource import Resource


class Approvals(Resource):
    _path = "approvals"

    def get(self, id, /, *, options=None):
        """Retrieve an approval."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List approvals."""
        return self._page(options, query)


class Branding(Resource):
    _path = "branding"

    def delete(self, *, options=None):
        """Delete the branding."""
        return self._delete(options)

    def get(self, *, options=None):
        """Retrieve the branding."""
        return self._get(options)

    def preview(self, *, options=None, **fields):
        """Preview the branding."""
        return self._post(options, "preview", body=fields)

    def update(self, *, options=None, **fields):
        """Set the branding."""
        return self._put(options, body=fields)


class Broadcasts(Resource):
    _path = "broadcasts"

    def approve(self, id, /, *, options=None, **fields):
        """Approve a broadcast."""
        return self._post(options, id, "approve", body=fields)

    def cancel(self, id, /, *, options=None):
        """Cancel a broadcast."""
        return self._post(options, id, "cancel")

    def create(self, *, options=None, **fields):
        """Create a broadcast."""
        return self._post(options, body=fields)

    def decline(self, id, /, *, options=None, **fields):
        """Decline a broadcast."""
        return self._post(options, id, "decline", body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a broadcast."""
        return self._delete(options, id)

    def export_clicked_links(self, id, /, *, options=None):
        """Export the tracked links of a broadcast to a CSV file."""
        return self._post(options, id, "clicked-links", "exports")

    def export_recipients(self, id, /, *, options=None, **fields):
        """Export the recipients of a broadcast to a CSV file."""
        return self._post(options, id, "recipients", "exports", body=fields or None)

    def get(self, id, /, *, options=None):
        """Retrieve a broadcast."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List broadcasts."""
        return self._page(options, query)

    def list_clicked_links(self, id, /, *, options=None):
        """List the tracked links of a broadcast."""
        return self._page(options, {}, id, "clicked-links")

    def list_providers(self, id, /, *, options=None):
        """Count the recipients of a broadcast by provider."""
        return self._page(options, {}, id, "providers")

    def list_recipients(self, id, /, *, options=None, **query):
        """List the recipients of a broadcast."""
        return self._page(options, query, id, "recipients")

    def pause(self, id, /, *, options=None):
        """Pause a broadcast."""
        return self._post(options, id, "pause")

    def preflight(self, id, /, *, options=None):
        """Show what a broadcast will be."""
        return self._get(options, id, "preflight")

    def preview(self, id, /, *, options=None, **query):
        """Show a broadcast as a contact would read it."""
        return self._get(options, id, "preview", query=query)

    def resume(self, id, /, *, options=None):
        """Resume a paused broadcast."""
        return self._post(options, id, "resume")

    def send(self, id, /, *, options=None):
        """Send a broadcast."""
        return self._post(options, id, "send")

    def test(self, id, /, *, options=None, **fields):
        """Send a test of a broadcast."""
        return self._post(options, id, "test", body=fields)

    def update(self, id, /, *, options=None, **fields):
        """Update a broadcast."""
        return self._patch(options, id, body=fields)


class Domains(Resource):
    _path = "domains"

    def create(self, *, options=None, **fields):
        """Create a domain."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a domain."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve a domain."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List domains."""
        return self._page(options, query)

    def list_reports(self, id, /, *, options=None, **query):
        """List reports about a domain."""
        return self._page(options, query, id, "reports")

    def rotate_dkim(self, id, /, *, options=None):
        """Rotate the DKIM keys of a domain."""
        return self._post(options, id, "rotate-dkim")

    def sum_reports(self, id, /, *, options=None, **query):
        """Sum reports about a domain by day."""
        return self._get(options, id, "reports", "days", query=query)

    def update(self, id, /, *, options=None, **fields):
        """Update a domain."""
        return self._patch(options, id, body=fields)

    def verify(self, id, /, *, options=None):
        """Verify a domain."""
        return self._post(options, id, "verify")


class Emails(Resource):
    _path = "emails"

    def approve(self, id, /, *, options=None, **fields):
        """Approve an email."""
        return self._post(options, id, "approve", body=fields)

    def cancel(self, id, /, *, options=None):
        """Cancel an email."""
        return self._post(options, id, "cancel")

    def check(self, id, /, *, options=None, **query):
        """Check an email."""
        return self._get(options, id, "check", query=query)

    def decline(self, id, /, *, options=None, **fields):
        """Decline an email."""
        return self._post(options, id, "decline", body=fields)

    def get(self, id, /, *, options=None):
        """Retrieve an email."""
        return self._get(options, id)

    def get_attachment(self, id, number, /, *, options=None):
        """Download an attachment of an email."""
        return self._stream(options, {}, id, "attachments", number)

    def get_attempts(self, id, /, *, options=None):
        """List the delivery attempts of an email."""
        return self._get(options, id, "attempts")

    def get_raw(self, id, /, *, options=None, **query):
        """Download an email."""
        return self._stream(options, query, id, "raw")

    def list(self, *, options=None, **query):
        """List emails."""
        return self._page(options, query)

    def reschedule(self, id, /, *, options=None, **fields):
        """Reschedule an email."""
        return self._patch(options, id, body=fields)

    def search_subjects(self, *, options=None, **query):
        """Search subjects."""
        return self._get(options, "subjects", query=query)

    def send(self, *, options=None, **fields):
        """Send an email. For example ``send(from_=…, to=…, subject=…, html=…, type="transactional")``.

        ``content`` of an attachment may be base64 in a string, bytes, a path, a file that is open in binary mode, or an iterator of bytes.
        ``scheduled_at`` may be a ``datetime`` with a time zone. The result has the idempotency key.
        """
        return self._post(options, body=fields)

    def send_batch(self, *, options=None, **fields):
        """Send up to 100 emails. In ``emails=[…]`` each has the names of the wire, such as ``replyTo``."""
        return self._post(options, "batch", body=fields)


class Metrics(Resource):
    _path = "metrics"

    def get(self, *, options=None, **query):
        """Count what became of your mail."""
        return self._get(options, query=query)


class Simulator(Resource):
    _path = "simulator"

    def delete_reply(self, *, options=None):
        """Remove the reply of the simulator."""
        return self._delete(options, "reply")

    def get_reply(self, *, options=None):
        """Retrieve the reply of the simulator."""
        return self._get(options, "reply")

    def set_reply(self, *, options=None, **fields):
        """Choose the reply of the simulator."""
        return self._put(options, "reply", body=fields)


class TemplatesVersions(Resource):
    _path = "templates"

    def get(self, template_id, id, /, *, options=None):
        """Retrieve a template version."""
        return self._get(options, template_id, "versions", id)

    def list(self, template_id, /, *, options=None, **query):
        """List template versions."""
        return self._page(options, query, template_id, "versions")

    def restore(self, template_id, id, /, *, options=None):
        """Restore a template version."""
        return self._post(options, template_id, "versions", id, "restore")


class Templates(Resource):
    _path = "templates"

    def __init__(self, run):
        super().__init__(run)
        self.versions = TemplatesVersions(run)

    def create(self, *, options=None, **fields):
        """Create a template."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a template."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve a template."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List templates."""
        return self._page(options, query)

    def preview(self, *, options=None, **fields):
        """Preview a template."""
        return self._post(options, "preview", body=fields)

    def update(self, id, /, *, options=None, **fields):
        """Update a template."""
        return self._patch(options, id, body=fields)


class WebhooksDeliveries(Resource):
    _path = "webhooks"

    def get(self, webhook_id, id, /, *, options=None):
        """Retrieve a webhook delivery."""
        return self._get(options, webhook_id, "deliveries", id)

    def list(self, webhook_id, /, *, options=None, **query):
        """List webhook deliveries."""
        return self._page(options, query, webhook_id, "deliveries")

    def replay(self, webhook_id, id, /, *, options=None):
        """Post a delivery again."""
        return self._post(options, webhook_id, "deliveries", id, "replay")


class Webhooks(Resource):
    _path = "webhooks"

    def __init__(self, run):
        super().__init__(run)
        self.deliveries = WebhooksDeliveries(run)

    def create(self, *, options=None, **fields):
        """Create a webhook endpoint."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a webhook endpoint."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve a webhook endpoint."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List webhook endpoints."""
        return self._page(options, query)

    def count_replay(self, id, /, *, options=None, **query):
        """Count failed and skipped deliveries."""
        return self._get(options, id, "replay", query=query)

    def replay(self, id, /, *, options=None, **fields):
        """Post failed and skipped deliveries again."""
        return self._post(options, id, "replay", body=fields)

    def rotate_secret(self, id, /, *, options=None, **fields):
        """Replace the secret of a webhook endpoint."""
        return self._post(options, id, "rotate-secret", body=fields or None)

    def test(self, id, /, *, options=None, **fields):
        """Post a sample event to a webhook endpoint."""
        return self._post(options, id, "test", body=fields or None)

    def update(self, id, /, *, options=None, **fields):
        """Update a webhook endpoint."""
        return self._patch(options, id, body=fields)

    verify = staticmethod(signatures.verify)
    sign = staticmethod(signatures.sign)
