"""Received mail, mailboxes, and the account itself."""

from .resource import Resource


class ApiKeys(Resource):
    _path = "api-keys"

    def create(self, *, options=None, **fields):
        """Create an API key."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Revoke an API key."""
        return self._delete(options, id)

    def get(self, id, /, *, options=None):
        """Retrieve an API key."""
        return self._get(options, id)

    def list(self, *, options=None, **query):
        """List API keys."""
        return self._page(options, query)

    def update(self, id, /, *, options=None, **fields):
        """Change an API key."""
        return self._patch(options, id, body=fields)


class InboundMessages(Resource):
    _path = "inbound"

    def get(self, id, /, *, options=None):
        """Retrieve an inbound message."""
        return self._get(options, "messages", id)

    def get_attachment(self, id, number, /, *, options=None):
        """Download an attachment of an inbound message."""
        return self._stream(options, {}, "messages", id, "attachments", number)

    def get_raw(self, id, /, *, options=None):
        """Download an inbound message."""
        return self._stream(options, {}, "messages", id, "raw")

    def list(self, *, options=None, **query):
        """List inbound messages."""
        return self._page(options, query, "messages")

    def replay(self, id, /, *, options=None):
        """Post an inbound message again."""
        return self._post(options, "messages", id, "replay")


class InboundRoutes(Resource):
    _path = "inbound"

    def create(self, *, options=None, **fields):
        """Create an inbound route."""
        return self._post(options, "routes", body=fields)

    def delete(self, id, /, *, options=None):
        """Delete an inbound route."""
        return self._delete(options, "routes", id)

    def get(self, id, /, *, options=None):
        """Retrieve an inbound route."""
        return self._get(options, "routes", id)

    def list(self, *, options=None, **query):
        """List inbound routes."""
        return self._page(options, query, "routes")

    def test(self, id, /, *, options=None):
        """Post a sample message to an inbound route."""
        return self._post(options, "routes", id, "test")

    def update(self, id, /, *, options=None, **fields):
        """Update an inbound route."""
        return self._patch(options, "routes", id, body=fields)


class Inbound(Resource):
    def __init__(self, run):
        super().__init__(run)
        self.messages = InboundMessages(run)
        self.routes = InboundRoutes(run)


class MailboxesAppPasswords(Resource):
    _path = "mailboxes"

    def create(self, mailbox_id, /, *, options=None, **fields):
        """Create an app password."""
        return self._post(options, mailbox_id, "app-passwords", body=fields)

    def delete(self, mailbox_id, id, /, *, options=None):
        """Revoke an app password."""
        return self._delete(options, mailbox_id, "app-passwords", id)

    def get(self, mailbox_id, id, /, *, options=None):
        """Retrieve an app password."""
        return self._get(options, mailbox_id, "app-passwords", id)

    def list(self, mailbox_id, /, *, options=None, **query):
        """List app passwords."""
        return self._page(options, query, mailbox_id, "app-passwords")


class MailboxesImports(Resource):
    _path = "mailboxes"

    def create(self, mailbox_id, /, *, options=None, **fields):
        """Create a mailbox import."""
        return self._post(options, mailbox_id, "imports", body=fields)

    def delete(self, mailbox_id, id, /, *, options=None):
        """Delete a mailbox import."""
        return self._delete(options, mailbox_id, "imports", id)

    def get(self, mailbox_id, id, /, *, options=None):
        """Retrieve a mailbox import."""
        return self._get(options, mailbox_id, "imports", id)

    def get_errors(self, mailbox_id, id, /, *, options=None):
        """Download the messages that were not imported."""
        return self._stream(options, {}, mailbox_id, "imports", id, "errors")

    def list(self, mailbox_id, /, *, options=None, **query):
        """List mailbox imports."""
        return self._page(options, query, mailbox_id, "imports")


class MailboxesDrafts(Resource):
    _path = "mailboxes"

    def create(self, mailbox_id, /, *, options=None, **fields):
        """Write a draft in a mailbox."""
        return self._post(options, mailbox_id, "drafts", body=fields)

    def send(self, mailbox_id, id, /, *, options=None):
        """Send a draft of a mailbox."""
        return self._post(options, mailbox_id, "drafts", id, "send")


class MailboxesFolders(Resource):
    _path = "mailboxes"

    def list(self, mailbox_id, /, *, options=None):
        """List the folders of a mailbox."""
        return self._get(options, mailbox_id, "folders")


class MailboxesMessages(Resource):
    _path = "mailboxes"

    def get(self, mailbox_id, id, /, *, options=None):
        """Retrieve a message of a mailbox."""
        return self._get(options, mailbox_id, "messages", id)

    def get_attachment(self, mailbox_id, id, number, /, *, options=None):
        """Download an attachment of a message of a mailbox."""
        return self._stream(options, {}, mailbox_id, "messages", id, "attachments", number)

    def get_raw(self, mailbox_id, id, /, *, options=None):
        """Download a message of a mailbox."""
        return self._stream(options, {}, mailbox_id, "messages", id, "raw")

    def list(self, mailbox_id, /, *, options=None, **query):
        """List the messages of a mailbox."""
        return self._page(options, query, mailbox_id, "messages")

    def update(self, mailbox_id, id, /, *, options=None, **fields):
        """Mark or move a message of a mailbox."""
        return self._patch(options, mailbox_id, "messages", id, body=fields)


class MailboxesThreads(Resource):
    _path = "mailboxes"

    def get(self, mailbox_id, id, /, *, options=None):
        """Retrieve a thread of a mailbox."""
        return self._get(options, mailbox_id, "threads", id)

    def list(self, mailbox_id, /, *, options=None, **query):
        """List the threads of a mailbox."""
        return self._page(options, query, mailbox_id, "threads")


class Mailboxes(Resource):
    _path = "mailboxes"

    def __init__(self, run):
        super().__init__(run)
        self.app_passwords = MailboxesAppPasswords(run)
        self.drafts = MailboxesDrafts(run)
        self.folders = MailboxesFolders(run)
        self.imports = MailboxesImports(run)
        self.messages = MailboxesMessages(run)
        self.threads = MailboxesThreads(run)

    def create(self, *, options=None, **fields):
        """Create a mailbox."""
        return self._post(options, body=fields)

    def delete(self, id, /, *, options=None):
        """Delete a mailbox."""
        return self._delete(options, id)

    def delete_recovery_address(self, id, /, *, options=None):
        """Remove the recovery address of a mailbox."""
        return self._delete(options, id, "recovery-address")

    def end_sessions(self, id, /, *, options=None, **fields):
        """End sessions of a mailbox."""
        return self._post(options, id, "sessions", "end", body=fields)

    def get(self, id, /, *, options=None):
        """Retrieve a mailbox."""
        return self._get(options, id)

    def get_recovery_address(self, id, /, *, options=None):
        """Retrieve the recovery address of a mailbox."""
        return self._get(options, id, "recovery-address")

    def get_settings(self, id, /, *, options=None):
        """Retrieve the settings for mail programs."""
        return self._get(options, id, "settings")

    def list(self, *, options=None, **query):
        """List mailboxes."""
        return self._page(options, query)

    def list_sessions(self, id, /, *, options=None):
        """List the sessions of a mailbox."""
        return self._get(options, id, "sessions")

    def update(self, id, /, *, options=None, **fields):
        """Update a mailbox."""
        return self._patch(options, id, body=fields)


class Plan(Resource):
    _path = "plan"

    def get(self, *, options=None):
        """Retrieve the plan and its use."""
        return self._get(options)


class RequestLog(Resource):
    _path = "request-log"

    def list(self, *, options=None, **query):
        """List requests."""
        return self._page(options, query)
