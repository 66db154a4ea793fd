"""Received mail, mailboxes, and the account itself."""

from typing import Any, Union

from .objects import Object
from .pages import Page
from .resource import Options, Resource, Run
from .streams import Stream


class ApiKeys(Resource):
    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create an API key."""
        return self._json(options, "POST", "api-keys", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Revoke an API key."""
        return self._delete(options, "api-keys", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an API key."""
        return self._json(options, "GET", "api-keys", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List API keys."""
        return self._page(options, query, "api-keys")

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Change an API key."""
        return self._json(options, "PATCH", "api-keys", id, body=fields)


class InboundMessages(Resource):
    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an inbound message."""
        return self._json(options, "GET", "inbound", "messages", id)

    def get_attachment(self, id: str, number: Union[int, str], /, *, options: Options = None) -> Stream:
        """Download an attachment of an inbound message."""
        return self._stream(options, {}, "inbound", "messages", id, "attachments", number)

    def get_raw(self, id: str, /, *, options: Options = None) -> Stream:
        """Download an inbound message."""
        return self._stream(options, {}, "inbound", "messages", id, "raw")

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List inbound messages."""
        return self._page(options, query, "inbound", "messages")

    def replay(self, id: str, /, *, options: Options = None) -> Object:
        """Post an inbound message again."""
        return self._json(options, "POST", "inbound", "messages", id, "replay")


class InboundRoutes(Resource):
    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create an inbound route."""
        return self._json(options, "POST", "inbound", "routes", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete an inbound route."""
        return self._delete(options, "inbound", "routes", id)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an inbound route."""
        return self._json(options, "GET", "inbound", "routes", id)

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List inbound routes."""
        return self._page(options, query, "inbound", "routes")

    def test(self, id: str, /, *, options: Options = None) -> Object:
        """Post a sample message to an inbound route."""
        return self._json(options, "POST", "inbound", "routes", id, "test")

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update an inbound route."""
        return self._json(options, "PATCH", "inbound", "routes", id, body=fields)


class Inbound(Resource):
    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.messages = InboundMessages(run)
        self.routes = InboundRoutes(run)


class MailboxesAppPasswords(Resource):
    def create(self, mailbox_id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Create an app password."""
        return self._json(options, "POST", "mailboxes", mailbox_id, "app-passwords", body=fields)

    def delete(self, mailbox_id: str, id: str, /, *, options: Options = None) -> None:
        """Revoke an app password."""
        return self._delete(options, "mailboxes", mailbox_id, "app-passwords", id)

    def get(self, mailbox_id: str, id: str, /, *, options: Options = None) -> Object:
        """Retrieve an app password."""
        return self._json(options, "GET", "mailboxes", mailbox_id, "app-passwords", id)

    def list(self, mailbox_id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List app passwords."""
        return self._page(options, query, "mailboxes", mailbox_id, "app-passwords")


class MailboxesImports(Resource):
    def create(self, mailbox_id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Create a mailbox import."""
        return self._json(options, "POST", "mailboxes", mailbox_id, "imports", body=fields)

    def delete(self, mailbox_id: str, id: str, /, *, options: Options = None) -> None:
        """Delete a mailbox import."""
        return self._delete(options, "mailboxes", mailbox_id, "imports", id)

    def get(self, mailbox_id: str, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a mailbox import."""
        return self._json(options, "GET", "mailboxes", mailbox_id, "imports", id)

    def get_errors(self, mailbox_id: str, id: str, /, *, options: Options = None) -> Stream:
        """Download the messages that were not imported."""
        return self._stream(options, {}, "mailboxes", mailbox_id, "imports", id, "errors")

    def list(self, mailbox_id: str, /, *, options: Options = None, **query: Any) -> Page:
        """List mailbox imports."""
        return self._page(options, query, "mailboxes", mailbox_id, "imports")


class Mailboxes(Resource):
    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.app_passwords = MailboxesAppPasswords(run)
        self.imports = MailboxesImports(run)

    def create(self, *, options: Options = None, **fields: Any) -> Object:
        """Create a mailbox."""
        return self._json(options, "POST", "mailboxes", body=fields)

    def delete(self, id: str, /, *, options: Options = None) -> None:
        """Delete a mailbox."""
        return self._delete(options, "mailboxes", id)

    def end_sessions(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """End sessions of a mailbox."""
        return self._json(options, "POST", "mailboxes", id, "sessions", "end", body=fields)

    def get(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve a mailbox."""
        return self._json(options, "GET", "mailboxes", id)

    def get_settings(self, id: str, /, *, options: Options = None) -> Object:
        """Retrieve the settings for mail programs."""
        return self._json(options, "GET", "mailboxes", id, "settings")

    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List mailboxes."""
        return self._page(options, query, "mailboxes")

    def list_sessions(self, id: str, /, *, options: Options = None) -> Object:
        """List the sessions of a mailbox."""
        return self._json(options, "GET", "mailboxes", id, "sessions")

    def update(self, id: str, /, *, options: Options = None, **fields: Any) -> Object:
        """Update a mailbox."""
        return self._json(options, "PATCH", "mailboxes", id, body=fields)


class Plan(Resource):
    def get(self, *, options: Options = None) -> Object:
        """Retrieve the plan and its use."""
        return self._json(options, "GET", "plan")


class RequestLog(Resource):
    def list(self, *, options: Options = None, **query: Any) -> Page:
        """List requests."""
        return self._page(options, query, "request-log")
