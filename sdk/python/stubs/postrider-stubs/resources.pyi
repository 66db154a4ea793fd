# This file is written by sdk/tools/types-python.ts. Do not edit it.
from datetime import datetime
from typing import Any, Dict, IO, Iterable, List, Literal, Mapping, Optional, Sequence, Union

from . import types
from .pages import Page
from .streams import Stream
from .webhooks import sign, verify

File = Union[str, bytes, bytearray, memoryview, IO[bytes], Iterable[bytes]]

class InboundMessages:
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.InboundMessage:
        """Retrieve an inbound message.

        Returns the message with its texts and a list of its attachments, and its posts to routes. The bytes of attachments are at `/attachments/{number}` below it."""
        ...
    def get_attachment(
        self,
        id: str,
        number: Union[int, str],
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download an attachment of an inbound message.

        Returns the bytes of the file. Its media type and its name are in the message."""
        ...
    def get_raw(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download an inbound message.

        Returns the message as it arrived, with the header fields that were added before it."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        address: str = ...,
        route_id: str = ...,
        from_: str = ...,
        message_id: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.InboundMessageSummary]:
        """List inbound messages.

        Returns the messages that arrived for routes, the newest first. A message must match all given filters. Mail for mailboxes alone is not listed.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        address: Only messages to this recipient of the envelope.

        route_id: Only messages for this route.

        from_: Only messages of this author, by address or domain.

        message_id: Only messages with this value of the Message-ID header field, with or without its angle brackets."""
        ...
    def replay(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.InboundMessage:
        """Post an inbound message again.

        Makes the posts that have failed again, or all of them when none has failed, with as many attempts as at first. They keep their ids, by which a receiver can recognise them."""
        ...


class InboundRoutes:
    def create(
        self,
        *,
        address: str,
        destination: str,
        enabled: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.InboundRouteWithSecret:
        """Create an inbound route.

        The response contains the `secret` that signs every post. It is not shown again.

        address: Address at a verified domain, or `*@<domain>` for every address that no other route names. Letters are compared without case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.

        destination: https URL to which messages are posted, without user name and fragment, and not on a mail port.

        enabled: True when messages are forwarded; default true."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete an inbound route.

        Deletes the inbound route for good."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.InboundRoute:
        """Retrieve an inbound route.

        Returns the inbound route with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        address: str = ...,
        domain: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.InboundRoute]:
        """List inbound routes.

        Returns a page of inbound routes, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        address: Only the route with exactly this address, which may be `*@<domain>`.

        domain: Only routes of this domain."""
        ...
    def test(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookTestResult:
        """Post a sample message to an inbound route.

        The response is sent once the receiver has answered, or after 15 s. The sample contains `"test": true`. It is posted once, also for a disabled route."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        address: str = ...,
        destination: str = ...,
        enabled: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.InboundRoute:
        """Update an inbound route.

        Omitted fields keep their values.

        address: Address at a verified domain, or `*@<domain>` for every address that no other route names. Letters are compared without case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.

        destination: https URL to which messages are posted, without user name and fragment, and not on a mail port.

        enabled: True when messages are forwarded; default true."""
        ...


class MailboxesAppPasswords:
    def create(
        self,
        mailbox_id: str,
        /,
        *,
        name: str,
        protocols: Sequence[Union[Literal["imap", "pop3", "smtp", "sieve"], str]] = ...,
        member: str = ...,
        allowed_ips: Optional[Sequence[str]] = ...,
        expires_at: Optional[Union[str, datetime]] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.CreatedAppPassword:
        """Create an app password.

        The password is in this response, and is not shown again.

        name: Name of the mail program or the device that uses the password.

        protocols: Protocols in which the password is valid; all of them unless they are given.

        member: Address of the member that the password of a shared mailbox is for.

        allowed_ips: Addresses and CIDR blocks from which the password may be used; null allows any.

        expires_at: ISO 8601 with an offset; null: never. Sessions that are open at this time end."""
        ...
    def delete(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Revoke an app password.

        Revokes an app password at once. Mail programs that are logged in with it are disconnected."""
        ...
    def get(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.AppPassword:
        """Retrieve an app password.

        Returns the app password with this id."""
        ...
    def list(
        self,
        mailbox_id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.AppPassword]:
        """List app passwords.

        Returns a page of app passwords, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...


class MailboxesDrafts:
    def create(
        self,
        mailbox_id: str,
        /,
        *,
        in_reply_to: str = ...,
        reply_all: bool = ...,
        quote: bool = ...,
        forwards: str = ...,
        forward_as: Union[Literal["inline", "attachment"], str] = ...,
        from_: str = ...,
        to: Sequence[str] = ...,
        cc: Sequence[str] = ...,
        bcc: Sequence[str] = ...,
        subject: str = ...,
        text: str = ...,
        html: str = ...,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxMessageSummary:
        """Write a draft in a mailbox.

        Makes a draft, which may answer or forward a message of the mailbox. It is in the folder of drafts, where its owner can read, change and send it.

        in_reply_to: Id of a message of the mailbox that the draft answers.

        reply_all: True when the answer also goes to the other recipients. By default, false.

        quote: False when an answer does not quote the message. By default, true.

        forwards: Id of a message of the mailbox that the draft forwards.

        forward_as: `inline`: its text and its files are those of the draft. `attachment`: the whole message is attached. By default, `inline`.

        from_: An address of the mailbox, with or without a name. By default, the one that was written to.

        to: By default, for an answer, its Reply-To or its author.

        cc: By default, with `replyAll`, the other recipients.

        bcc: Recipients that the others do not see.

        subject: By default, that of the message with `Re:` or `Fwd:`.

        text: Plain text. What is quoted follows it.

        html: HTML. What is quoted follows it."""
        ...
    def send(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxMessageSummary:
        """Send a draft of a mailbox.

        Sends a draft to the recipients in its header, as submission at port 587 does, and files it in the folder of sent mail. It is sent once, however often this is asked for: a draft that was sent before is answered as it is now. A key whose mail requires approval cannot send: the owner sends its drafts."""
        ...


class MailboxesFolders:
    def list(
        self,
        mailbox_id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxFolders:
        """List the folders of a mailbox.

        Returns all folders by name, with the numbers of their messages."""
        ...


class MailboxesImports:
    def create(
        self,
        mailbox_id: str,
        /,
        *,
        host: str,
        port: int = ...,
        security: Union[Literal["tls", "starttls"], str] = ...,
        user: str,
        password: str,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxImport:
        """Create a mailbox import.

        Imports all folders of a user of another server, with flags and dates. Messages that were imported before from the same host and user are left out, so a later import adds what is new.

        host: Name of the IMAP server. Its certificate must be valid for this name.

        port: 993 for `tls` and 143 for `starttls` unless it is given. Below 1024 there is no other.

        security: `tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it before anything secret is sent.

        user: Name with which the owner of the mail logs in.

        password: Password or app password. It is stored encrypted, deleted when the import ends, and never shown."""
        ...
    def delete(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a mailbox import.

        Deletes an import with its password. One that runs is stopped. Imported messages stay."""
        ...
    def get(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxImport:
        """Retrieve a mailbox import.

        Returns the mailbox import with this id."""
        ...
    def get_errors(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download the messages that were not imported.

        Returns the messages that could not be imported so far, at most 1,000. A line without a UID stands for a whole folder."""
        ...
    def list(
        self,
        mailbox_id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.MailboxImport]:
        """List mailbox imports.

        Returns a page of mailbox imports, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...


class MailboxesMessages:
    def get(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxMessage:
        """Retrieve a message of a mailbox.

        Returns the message with its texts and a list of its attachments. The bytes of attachments are at `/attachments/{number}` below it. Reading it changes nothing: it stays unread."""
        ...
    def get_attachment(
        self,
        mailbox_id: str,
        id: str,
        number: Union[int, str],
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download an attachment of a message of a mailbox.

        Returns the bytes of the file. Its media type and its name are in the message."""
        ...
    def get_raw(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download a message of a mailbox.

        Returns the message as it is stored."""
        ...
    def list(
        self,
        mailbox_id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        folder: str = ...,
        unread: bool = ...,
        flagged: bool = ...,
        from_: str = ...,
        to: str = ...,
        subject: str = ...,
        q: str = ...,
        received_after: str = ...,
        received_before: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.MailboxMessageSummary]:
        """List the messages of a mailbox.

        Returns the messages of one folder, the newest first. A message must match all given filters. A request examines at most 10,000 messages, so that a page may have few messages, or none, although `hasMore` is true.

        limit: Number of items on the page.

        starting_after: `nextCursor` of a page of the same list.

        folder: Role (`inbox`, `sent`, …), id or name of the folder. By default, `inbox`.

        unread: Only unread messages, or only read ones.

        flagged: Only flagged messages, or only others.

        from_: Only messages with this text in From, such as a part of a name or an address.

        to: Only messages with this text in To.

        subject: Only messages with this text in the subject.

        q: Only messages with this text in the header or in the text, as SEARCH TEXT of IMAP finds it.

        received_after: Time in ISO 8601 with an offset; only messages that arrived then or later.

        received_before: Time in ISO 8601 with an offset; only messages that arrived before."""
        ...
    def update(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        unread: bool = ...,
        flagged: bool = ...,
        folder: str = ...,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxMessageSummary:
        """Mark or move a message of a mailbox.

        Sets marks, and moves the message to another folder. Mail programs see it at once. To delete a message, move it to `trash`, which its owner empties.

        folder: Role (`trash`, `archive`, `junk`, `inbox`, …), id or name of the folder that gets the message."""
        ...


class MailboxesThreads:
    def get(
        self,
        mailbox_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxThread:
        """Retrieve a thread of a mailbox.

        Returns the thread that a message belongs to, with its messages, the oldest first."""
        ...
    def list(
        self,
        mailbox_id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        folder: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.MailboxThreadSummary]:
        """List the threads of a mailbox.

        Groups the newest 5,000 messages of a folder by their References, together with the newest sent ones, and returns the threads with a message in the folder, those with the newest message first.

        limit: Number of items on the page.

        starting_after: `nextCursor` of a page of the same list.

        folder: Role (`inbox`, `sent`, …), id or name of the folder. By default, `inbox`."""
        ...


class TemplatesVersions:
    def get(
        self,
        template_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.TemplateVersion:
        """Retrieve a template version.

        Returns the template version with this id."""
        ...
    def list(
        self,
        template_id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.TemplateVersionSummary]:
        """List template versions.

        Returns a page of the contents that a template has had, the newest first. The first one is the current content. A template from before versions were kept has none until its content is changed.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...
    def restore(
        self,
        template_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Template:
        """Restore a template version.

        Changes subject, HTML and text of the template to those of the version, and returns the template. It is a change like any other: it makes a new version, and mail that was accepted before does not change."""
        ...


class WebhooksDeliveries:
    def get(
        self,
        webhook_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookDeliveryWithBody:
        """Retrieve a webhook delivery.

        Returns the webhook delivery with this id."""
        ...
    def list(
        self,
        webhook_id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["pending", "delivered", "failed", "skipped"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.WebhookDelivery]:
        """List webhook deliveries.

        Deliveries are kept for 30 days.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: Only deliveries in this state."""
        ...
    def replay(
        self,
        webhook_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookDelivery:
        """Post a delivery again.

        Makes a delivery in any state pending and due now, with as many attempts as a new one. It keeps its id and the id of its event, by which a receiver can recognise it. The request is refused while the delivery is being posted or the endpoint is disabled."""
        ...


class ApiKeys:
    def create(
        self,
        *,
        name: str,
        mode: Union[Literal["live", "test"], str] = ...,
        permission: Union[Literal["full_access", "sending_access", "read_only"], str],
        domain_id: Optional[str] = ...,
        allowed_ips: Optional[Sequence[str]] = ...,
        expires_at: Optional[Union[str, datetime]] = ...,
        requires_approval: Optional[Union[Literal["broadcasts", "broadcasts_and_emails"], str]] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.CreatedApiKey:
        """Create an API key.

        Creates a key with the mode of the requesting key, which must have full access and no limits.

        mode: Mode of the key. It must be the mode of the requesting key.

        permission: Requests that the key permits: all; only sending, retrieving and canceling emails; only reading.

        domain_id: The only domain that the key reaches: it sends from there, and sees and changes what belongs to it; null: any.

        allowed_ips: Addresses and CIDR blocks from which the key may be used; null allows any.

        expires_at: ISO 8601 with an offset; null: never.

        requires_approval: Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type broadcast. `broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and mailboxes, and approves nothing. Null: none."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Revoke an API key.

        Revokes a key at once and permanently. Any key may revoke itself."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.ApiKey:
        """Retrieve an API key.

        Returns the api key with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.ApiKey]:
        """List API keys.

        Returns the keys with the mode of the requesting key.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        name: str = ...,
        requires_approval: Optional[Union[Literal["broadcasts", "broadcasts_and_emails"], str]] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.ApiKey:
        """Change an API key.

        Omitted fields keep their values.

        requires_approval: Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type broadcast. `broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and mailboxes, and approves nothing. Null: none."""
        ...


class Approvals:
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Approval:
        """Retrieve an approval.

        Returns the approval with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        state: Union[Literal["pending", "approved", "declined", "expired", "withdrawn"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Approval]:
        """List approvals.

        Returns a page of approvals, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        state: Only approvals in this state; `pending` lists what waits."""
        ...


class Audiences:
    def create(
        self,
        *,
        name: str,
        opt_in: Optional[types.AudienceOptInInput] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Audience:
        """Create an audience.

        Returns the whole audience, with its id.

        opt_in: Double opt-in: the confirmation mail of pending contacts. Null when contacts cannot be pending."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete an audience.

        Deletes an audience with its contacts and segments, unless a broadcast to it is scheduled, being sent or paused."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Audience:
        """Retrieve an audience.

        Returns the audience with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Audience]:
        """List audiences.

        Returns a page of audiences, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        name: str = ...,
        opt_in: Optional[types.AudienceOptInInput] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Audience:
        """Update an audience.

        Omitted fields keep their values.

        opt_in: Double opt-in: the confirmation mail of pending contacts. Null when contacts cannot be pending."""
        ...


class Branding:
    def delete(
        self,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete the branding.

        Removes name, colours and logo from the public pages."""
        ...
    def get(
        self,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Branding:
        """Retrieve the branding.

        Returns name, colours and logo of the public pages. Every field is null until it is set."""
        ...
    def preview(
        self,
        *,
        name: Optional[str] = ...,
        color: Optional[str] = ...,
        text_color: Optional[str] = ...,
        dark_color: Optional[str] = ...,
        dark_text_color: Optional[str] = ...,
        logo: Optional[str] = ...,
        page: Union[Literal["unsubscribe", "preferences", "confirmation"], str],
        language: Union[Literal["en", "de", "fr", "es"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.BrandingPreview:
        """Preview the branding.

        Shows a public page as a reader would see it with these changes to the branding; without any, as it is now. Nothing is stored. What cannot be set is refused as it is when the branding is set.

        name: Name of the sender. At most 100 characters.

        color: Colour of the buttons and of the heading, as `#rrggbb`. Its contrast to the text on it must be at least 4.5.

        text_color: Colour of the text on `color`; white when it is null.

        dark_color: Colour on pages that are dark because the reader prefers it; `color` when it is null.

        dark_text_color: Colour of the text on `darkColor`; `textColor` when it is null.

        logo: PNG, JPEG, GIF or still WebP image in base64, of at most 1 MiB and 4,000,000 pixels. It is written anew as PNG, without animation, within 480 × 160 pixels, and shown on white at half that size.

        page: `unsubscribe`: the page behind the link of a mail; `preferences`: the one with the topics; `confirmation`: the one behind the link of a confirmation mail."""
        ...
    def update(
        self,
        *,
        name: Optional[str] = ...,
        color: Optional[str] = ...,
        text_color: Optional[str] = ...,
        dark_color: Optional[str] = ...,
        dark_text_color: Optional[str] = ...,
        logo: Optional[str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Branding:
        """Set the branding.

        Sets name, colours and logo of the pages that links in mail lead to: unsubscribing, preferences and confirmations. Omitted fields keep their values, and null removes one. Colours on which text cannot be read are refused.

        name: Name of the sender. At most 100 characters.

        color: Colour of the buttons and of the heading, as `#rrggbb`. Its contrast to the text on it must be at least 4.5.

        text_color: Colour of the text on `color`; white when it is null.

        dark_color: Colour on pages that are dark because the reader prefers it; `color` when it is null.

        dark_text_color: Colour of the text on `darkColor`; `textColor` when it is null.

        logo: PNG, JPEG, GIF or still WebP image in base64, of at most 1 MiB and 4,000,000 pixels. It is written anew as PNG, without animation, within 480 × 160 pixels, and shown on white at half that size."""
        ...


class Broadcasts:
    def approve(
        self,
        id: str,
        /,
        *,
        hash: str,
        options: Optional[types.Options] = ...,
    ) -> types.Approval:
        """Approve a broadcast.

        Starts a broadcast that waits for approval, now or at its `scheduleAt`. Only a key with full access whose own mail requires no approval may do this. Returns the approval.

        hash: The `approval.hash` of what was read. Something else is not approved."""
        ...
    def cancel(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Broadcast:
        """Cancel a broadcast.

        From the answer on, no copy is taken for delivery. Contacts who have not got the broadcast never will."""
        ...
    def create(
        self,
        *,
        audience_id: Optional[str] = ...,
        segment_id: Optional[str] = ...,
        reply_to: Optional[str] = ...,
        topic_id: Optional[str] = ...,
        template_id: Optional[str] = ...,
        html: Optional[str] = ...,
        text: Optional[str] = ...,
        schedule_at: Optional[Union[str, datetime]] = ...,
        pace: Optional[types.BroadcastPaceInput] = ...,
        from_: str,
        subject: str,
        options: Optional[types.Options] = ...,
    ) -> types.Broadcast:
        """Create a broadcast.

        Creates a draft, which nobody receives until it is sent, or with `scheduleAt` a broadcast that is sent at that time.

        audience_id: Audience that receives the broadcast. Required when `segmentId` is absent.

        segment_id: Segment whose contacts receive the broadcast. When `audienceId` is given too, the segment must belong to that audience.

        reply_to: Address that receives replies.

        topic_id: Topic of the broadcast, so that readers can opt out of this kind of mail alone. Recommended.

        template_id: Id of a stored template, which is used instead of `html`.

        html: Required when `templateId` is absent. Merge tags such as `{{firstName|there}}` are escaped. The HTML must contain `{{{unsubscribe_url}}}`, the only tag allowed in three braces. At most 1 MiB.

        text: Generated from the HTML when absent. Replaces the text of the template. It must contain `{{{unsubscribe_url}}}` too. At most 1 MiB.

        schedule_at: Time at which the broadcast is sent, in ISO 8601 with an offset, at most a year ahead. A time that has passed means now. Without it the broadcast is a draft; null makes it a draft again.

        pace: How fast the broadcast is sent, with exactly one field. Without it, as fast as receivers accept the mail. It can be changed while the broadcast is sent or paused.

        from_: Sender, `a@b` or `Name <a@b>`, at a verified domain.

        subject: One line, which may contain merge tags such as {{firstName}}. Replaces the subject of the template."""
        ...
    def decline(
        self,
        id: str,
        /,
        *,
        hash: str,
        reason: Optional[str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Approval:
        """Decline a broadcast.

        Declines a broadcast that waits for approval. It is a draft again, unless it is scheduled for a time that needs no approval, and can be changed and sent again. Only a key with full access whose own mail requires no approval may do this. Returns the approval.

        hash: The `approval.hash` of what was read. Something else is not approved.

        reason: Why, for the author."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a broadcast.

        Deletes a broadcast that was never started. A scheduled one is not sent."""
        ...
    def export_clicked_links(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Export:
        """Export the tracked links of a broadcast to a CSV file.

        The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`."""
        ...
    def export_recipients(
        self,
        id: str,
        /,
        *,
        status: Union[Literal["waiting", "queued", "delivered", "bounced", "suppressed", "optedOut", "canceled", "failed"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Export:
        """Export the recipients of a broadcast to a CSV file.

        The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`. It says what became of each contact at the time when its line was written.

        status: `waiting`: the copy is not made yet; `queued`: it is on its way, or retried; `failed`: it could not be made."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Broadcast:
        """Retrieve a broadcast.

        Returns the broadcast with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["draft", "scheduled", "sending", "paused", "sent", "canceled", "failed"], str] = ...,
        audience_id: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.BroadcastSummary]:
        """List broadcasts.

        Returns a page of broadcasts, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: Only broadcasts with this status.

        audience_id: Only broadcasts for this audience or a segment of it."""
        ...
    def list_clicked_links(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Page[types.ClickedLink]:
        """List the tracked links of a broadcast.

        Returns all tracked links in the order of the HTML, at most 500, with the clicks of people and of machines. It is empty until the broadcast starts, and when its domain does not track clicks."""
        ...
    def list_providers(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Page[types.BroadcastProvider]:
        """Count the recipients of a broadcast by provider.

        Returns what became of the contacts with mailboxes of each large provider, and of all others. The ledger is read when it is asked for, which takes seconds for a million contacts."""
        ...
    def list_recipients(
        self,
        id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["waiting", "queued", "delivered", "bounced", "suppressed", "optedOut", "canceled", "failed"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.BroadcastRecipient]:
        """List the recipients of a broadcast.

        Returns what became of each contact. The list is complete once all contacts were gathered, shortly after the start. It is in the order of the contacts, the newest first; cursors and times refer to contacts.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: `waiting`: the copy is not made yet; `queued`: it is on its way, or retried; `failed`: it could not be made."""
        ...
    def pause(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Broadcast:
        """Pause a broadcast.

        From the answer on, no copy is taken for delivery. Copies that are being delivered at this moment still arrive."""
        ...
    def preflight(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.BroadcastPreflight:
        """Show what a broadcast will be.

        Returns who gets the broadcast, who does not and why, the size of the message, and what may go wrong. The broadcast is checked as when it is sent, and refused with the same errors. Nothing is changed."""
        ...
    def preview(
        self,
        id: str,
        /,
        *,
        contact: str = ...,
        options: Optional[types.Options] = ...,
    ) -> types.BroadcastPreview:
        """Show a broadcast as a contact would read it.

        Returns the subject and the texts of a broadcast that has not started, with the values of a contact. Nothing is sent or changed: links are not tracked, and the link to unsubscribe leads nowhere.

        contact: Id or address of a contact of the audience. Without it, the newest contact of the audience; without contacts, fallbacks fill in the merge tags."""
        ...
    def resume(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Broadcast:
        """Resume a paused broadcast.

        Sending continues with the contacts that have not got the broadcast. Bounces and complaints are judged anew, from the copies that are attempted from now on. A broadcast that was paused as `late` is checked and started, like one that is sent."""
        ...
    def send(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Broadcast:
        """Send a broadcast.

        Starts a draft, or a scheduled broadcast before its time. It is checked once more, and its content is frozen: later changes of templates, topics and segments do not matter to it. For a key that requires approval, it does not start, and its `approval` waits for a person; it is a draft then, unless it is scheduled for a time that needs no approval."""
        ...
    def test(
        self,
        id: str,
        /,
        *,
        to: Sequence[str],
        contact_id: Optional[str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.BroadcastTest:
        """Send a test of a broadcast.

        Sends the broadcast to a few addresses, as a contact would get it. Each test is an ordinary email of the type broadcast: it counts towards the quota, and addresses that are suppressed or have unsubscribed are refused, each in its item. The broadcast, its recipients and its counts stay as they are. The link to unsubscribe works, for the address itself.

        to: Up to 10 addresses. Each gets an email of its own, and a repeated address gets one.

        contact_id: Contact of the audience whose values fill in the merge tags. Without a contact, their fallbacks do."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        audience_id: Optional[str] = ...,
        segment_id: Optional[str] = ...,
        from_: str = ...,
        subject: str = ...,
        reply_to: Optional[str] = ...,
        topic_id: Optional[str] = ...,
        template_id: Optional[str] = ...,
        html: Optional[str] = ...,
        text: Optional[str] = ...,
        schedule_at: Optional[Union[str, datetime]] = ...,
        pace: Optional[types.BroadcastPaceInput] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Broadcast:
        """Update a broadcast.

        Changes a draft or a scheduled broadcast. Fields that are left out stay as they are; null clears a field. The broadcast is checked as a whole, so everything that it names must still exist. Of a broadcast that is being sent or paused, `pace` alone can be changed.

        audience_id: Audience that receives the broadcast. Required when `segmentId` is absent.

        segment_id: Segment whose contacts receive the broadcast. When `audienceId` is given too, the segment must belong to that audience.

        from_: Sender, `a@b` or `Name <a@b>`, at a verified domain.

        subject: One line, which may contain merge tags such as {{firstName}}. Replaces the subject of the template.

        reply_to: Address that receives replies.

        topic_id: Topic of the broadcast, so that readers can opt out of this kind of mail alone. Recommended.

        template_id: Id of a stored template, which is used instead of `html`.

        html: Required when `templateId` is absent. Merge tags such as `{{firstName|there}}` are escaped. The HTML must contain `{{{unsubscribe_url}}}`, the only tag allowed in three braces. At most 1 MiB.

        text: Generated from the HTML when absent. Replaces the text of the template. It must contain `{{{unsubscribe_url}}}` too. At most 1 MiB.

        schedule_at: Time at which the broadcast is sent, in ISO 8601 with an offset, at most a year ahead. A time that has passed means now. Without it the broadcast is a draft; null makes it a draft again.

        pace: How fast the broadcast is sent, with exactly one field. Without it, as fast as receivers accept the mail. It can be changed while the broadcast is sent or paused."""
        ...


class Contacts:
    def create(
        self,
        audience_id: str,
        /,
        *,
        email: str,
        first_name: Optional[str] = ...,
        last_name: Optional[str] = ...,
        unsubscribed: bool = ...,
        topics: Sequence[types.ContactTopicInput] = ...,
        properties: Mapping[str, Union[str, float, bool]] = ...,
        status: Union[Literal["subscribed", "pending"], str] = ...,
        consent: types.CreateContactBodyConsent = ...,
        upsert: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Contact:
        """Create a contact.

        Returns the contact. An address can be in an audience only once; `?upsert=true` updates the contact that has it. With the status `pending`, its reader gets a confirmation mail, unless the address got one within a day or 3 in all; `confirmation` shows it.

        email: One address without a name; unique in its audience in any case of letters.

        unsubscribed: True when the contact is unsubscribed from all marketing mail; default false.

        topics: Topics that are not named keep their choice, or the default of the topic.

        properties: Your own fields, for segments and merge tags. At most 100 of them, 32 KiB of JSON together.

        status: With `pending`, the contact gets a confirmation mail from the sender in `optIn` of its audience, and no marketing mail before its reader has confirmed. Default `subscribed`. It applies to new contacts: nobody who has confirmed or left is changed by it, and a pending contact stays pending.

        consent: Only with the status `pending`.

        upsert: Update the contact that has the address already. It stays unsubscribed, and opted out of topics, if it is."""
        ...
    def delete(
        self,
        audience_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a contact.

        The path names the contact by its id, or by its address, percent-encoded and in any case of letters."""
        ...
    def export_csv(
        self,
        audience_id: str,
        /,
        *,
        segment_id: str = ...,
        unsubscribed: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Export:
        """Export contacts to a CSV file.

        The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`. An import accepts the file, and reads its numbers as text.

        segment_id: Only contacts of this segment, which must belong to the audience.

        unsubscribed: Only contacts that are unsubscribed (true), or only those that are not (false)."""
        ...
    def get(
        self,
        audience_id: str,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Contact:
        """Retrieve a contact.

        The path names the contact by its id, or by its address, percent-encoded and in any case of letters."""
        ...
    def import_csv(
        self,
        audience_id: str,
        file: File,
        /,
        *,
        on_conflict: Union[Literal["update", "skip"], str] = ...,
        mapping: str = ...,
        encoding: Union[Literal["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"], str] = ...,
        preview: bool = ...,
        wait: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.ContactImportPreview:
        """Import contacts from a CSV file.

        The response is sent once the file is on disk. Its rows are imported afterwards; `GET /v1/imports/{id}` shows the progress. No events are recorded for them. With `?preview=true` nothing is imported.

        on_conflict: Whether contacts that exist already are updated or skipped; default update. Neither subscribes a contact again.

        mapping: Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the number of a column counted from 1. A value is a field (`email`, `firstName`, `lastName`, `name`, `status`, `subscribed`, `unsubscribed`, `unsubscribedAt`, `pending`, `topics.<id>`, `properties.<key>`), or null to leave the column out. It wins over the known headings.

        encoding: Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise Windows-1252.

        preview: True imports nothing, and returns how the file would be read: its columns, its first rows, and warnings.

        wait: True stores the file and imports nothing before `POST /v1/audiences/{audienceId}/contacts/imports/{id}/start`."""
        ...
    def list(
        self,
        audience_id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        email: str = ...,
        unsubscribed: bool = ...,
        status: Union[Literal["subscribed", "unsubscribed", "pending"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Contact]:
        """List contacts.

        Returns a page of contacts, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        email: The whole address, in any case of letters.

        unsubscribed: True for contacts that are unsubscribed from all marketing mail.

        status: Only contacts in this status."""
        ...
    def preview_import(
        self,
        audience_id: str,
        id: str,
        /,
        *,
        mapping: str = ...,
        encoding: Union[Literal["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.ContactImportPreview:
        """Preview an import that waits.

        Returns how the file would be read with a mapping. Nothing is imported or stored. Without a mapping, a heading line that cannot be used gives columns without fields, and a warning.

        mapping: Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the number of a column counted from 1. A value is a field (`email`, `firstName`, `lastName`, `name`, `status`, `subscribed`, `unsubscribed`, `unsubscribedAt`, `pending`, `topics.<id>`, `properties.<key>`), or null to leave the column out. It wins over the known headings.

        encoding: Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise Windows-1252."""
        ...
    def start_import(
        self,
        audience_id: str,
        id: str,
        /,
        *,
        mapping: str = ...,
        encoding: Union[Literal["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"], str] = ...,
        on_conflict: Union[Literal["update", "skip"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Import:
        """Start an import that waits.

        The rows are imported afterwards; `GET /v1/imports/{id}` shows the progress.

        mapping: Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the number of a column counted from 1. A value is a field (`email`, `firstName`, `lastName`, `name`, `status`, `subscribed`, `unsubscribed`, `unsubscribedAt`, `pending`, `topics.<id>`, `properties.<key>`), or null to leave the column out. It wins over the known headings.

        encoding: Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise Windows-1252.

        on_conflict: Whether contacts that exist already are updated or skipped; default update. Neither subscribes a contact again."""
        ...
    def update(
        self,
        audience_id: str,
        id: str,
        /,
        *,
        email: str = ...,
        first_name: Optional[str] = ...,
        last_name: Optional[str] = ...,
        unsubscribed: bool = ...,
        topics: Sequence[types.ContactTopicInput] = ...,
        properties: Mapping[str, Union[str, float, bool, None]] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Contact:
        """Update a contact.

        The path names the contact by its id, or by its address, percent-encoded and in any case of letters. Fields that are left out stay as they are; null empties a name. `unsubscribed: false` subscribes a contact again. A pending contact stays pending, and gets a confirmation mail at a new address.

        email: One address without a name; unique in its audience in any case of letters.

        unsubscribed: True when the contact is unsubscribed from all marketing mail; default false.

        topics: Topics that are not named keep their choice, or the default of the topic.

        properties: Merged with the present properties; null removes one. At most 100 of them, 32 KiB of JSON together."""
        ...


class Domains:
    def create(
        self,
        *,
        name: str,
        product_type: Union[Literal["api", "mailbox", "both"], str] = ...,
        region: str = ...,
        ed25519: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Domain:
        """Create a domain.

        Returns the DNS records to publish. Mail can be sent once they are verified.

        name: Name of an apex domain or a subdomain.

        product_type: Purpose of the domain; default api.

        region: One of the configured region codes; default the first.

        ed25519: Sign with an Ed25519 key too, once its optional record is found in DNS (RFC 8463); default false."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a domain.

        Deletes a domain, unless mail is scheduled from it."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Domain:
        """Retrieve a domain.

        Returns the domain with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["pending", "verified", "failed", "temporary_failure"], str] = ...,
        name: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Domain]:
        """List domains.

        Returns a page of domains, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: Only domains with this status.

        name: Only the domain with this name."""
        ...
    def list_reports(
        self,
        id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        type: Union[Literal["dmarc", "tls"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.DomainReport]:
        """List reports about a domain.

        Returns the reports of other servers about DMARC and TLS, the newest first. They arrive once the `rua` of the suggested DMARC record is published.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        type: Only reports of this type."""
        ...
    def rotate_dkim(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Domain:
        """Rotate the DKIM keys of a domain.

        Makes the next DKIM keys, and returns the domain. A key signs once it is found in DNS at the name of the optional record `DKIM_NEXT`; the one before stays published for at least 7 days, until the last mail signed with it has ended. While a key waits, the request changes nothing."""
        ...
    def sum_reports(
        self,
        id: str,
        /,
        *,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        type: Union[Literal["dmarc", "tls"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.DomainReportSums:
        """Sum reports about a domain by day.

        Returns the sums of the reports that the list would return, by their type and by the day on which they begin: at most the newest 800 sums, and none of days after tomorrow.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        type: Only reports of this type."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        tracking_subdomain: Optional[str] = ...,
        open_tracking: bool = ...,
        click_tracking: bool = ...,
        product_type: Union[Literal["api", "mailbox", "both"], str] = ...,
        region: str = ...,
        ed25519: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Domain:
        """Update a domain.

        Omitted fields keep their values.

        tracking_subdomain: Host name below the domain for tracked links; null for none.

        product_type: Purpose of the domain.

        region: One of the configured region codes.

        ed25519: Sign with an Ed25519 key too, once its optional record is found in DNS."""
        ...
    def verify(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Domain:
        """Verify a domain.

        Checks the DNS records of a domain now, and returns the domain with the result."""
        ...


class Emails:
    def approve(
        self,
        id: str,
        /,
        *,
        hash: str,
        options: Optional[types.Options] = ...,
    ) -> types.Approval:
        """Approve an email.

        Lets an email leave that waits for approval, now or at its `scheduledAt`. Only a key with full access whose own mail requires no approval may do this. Returns the approval.

        hash: The `approval.hash` of what was read. Something else is not approved."""
        ...
    def cancel(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Email:
        """Cancel an email.

        Cancels the recipients that wait for their first or for another attempt, or are held. Recipients who have received the email keep it. While the email is being sent to a recipient, the request is refused with 409. Returns the email."""
        ...
    def check(
        self,
        id: str,
        /,
        *,
        recipient: str = ...,
        options: Optional[types.Options] = ...,
    ) -> types.EmailCheck:
        """Check an email.

        Reads the header, the HTML, the links and the text of an email, and returns what readers, mail programs and filters may stumble over. Nothing is fetched or looked up. 409 `invalid_state` once the content was deleted.

        recipient: Address of the recipient whose copy is shown; the first one by default. Copies of marketing mail differ in their links to unsubscribe."""
        ...
    def decline(
        self,
        id: str,
        /,
        *,
        hash: str,
        reason: Optional[str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Approval:
        """Decline an email.

        Cancels an email that waits for approval. Only a key with full access whose own mail requires no approval may do this. Returns the approval.

        hash: The `approval.hash` of what was read. Something else is not approved.

        reason: Why, for the author."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Email:
        """Retrieve an email.

        Returns the email with its content, the state of each recipient and its events."""
        ...
    def get_attachment(
        self,
        id: str,
        number: Union[int, str],
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download an attachment of an email.

        Returns the bytes of the file. Its media type and its name are in the email. 409 `invalid_state` once its content was deleted."""
        ...
    def get_attempts(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.EmailAttempts:
        """List the delivery attempts of an email.

        Returns every attempt with its outcome and the reply of the server. For a week, it also returns the SMTP sessions of attempts that did not deliver."""
        ...
    def get_raw(
        self,
        id: str,
        /,
        *,
        recipient: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download an email.

        Returns the whole message as a server receives it, with all header fields and the DKIM signature. An email that was not sent yet is composed as it would be sent now. 409 `invalid_state` once its content was deleted.

        recipient: Address of the recipient whose copy is shown; the first one by default. Copies of marketing mail differ in their links to unsubscribe."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["queued", "sent", "delivered", "bounced", "complained", "canceled"], str] = ...,
        from_: str = ...,
        to: str = ...,
        tag: str = ...,
        message_id: str = ...,
        recipient_status: Union[Literal["queued", "sent", "deferred", "held", "delivered", "bounced", "complained", "suppressed", "canceled"], str] = ...,
        api_key_id: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.EmailSummary]:
        """List emails.

        Returns the newest first. An email must match all given filters.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: Status of the email as a whole.

        from_: Address or domain of the sender.

        to: Address of a recipient, in any field.

        tag: Tag in the form `key:value`.

        message_id: Value of the Message-ID header field, with or without its angle brackets.

        recipient_status: State of at least one recipient.

        api_key_id: Id of the API key that has sent the email, also of a revoked one."""
        ...
    def reschedule(
        self,
        id: str,
        /,
        *,
        scheduled_at: Union[str, datetime],
        options: Optional[types.Options] = ...,
    ) -> types.Email:
        """Reschedule an email.

        Changes the time of an email as long as no delivery was attempted. One that waits for approval, or was approved, asks again. Returns the email.

        scheduled_at: ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now."""
        ...
    def search_subjects(
        self,
        *,
        text: str = ...,
        days: int = ...,
        limit: int = ...,
        options: Optional[types.Options] = ...,
    ) -> types.SearchEmailSubjectsAnswer:
        """Search subjects.

        Returns the newest emails whose subject contains a text. It reads the subjects of a bounded number of the newest emails, and says how far it has looked.

        text: Part of the subject, in any case of its letters. Without it, every email is found.

        days: Only emails of the last days.

        limit: Number of emails."""
        ...
    def send(
        self,
        *,
        from_: str,
        to: Union[str, Sequence[str]],
        cc: Union[str, Sequence[str]] = ...,
        bcc: Union[str, Sequence[str]] = ...,
        reply_to: Union[str, Sequence[str]] = ...,
        subject: str,
        html: str = ...,
        text: str = ...,
        amp: str = ...,
        calendar: types.SendEmailBodyCalendar = ...,
        type: Union[Literal["transactional", "broadcast"], str],
        headers: Mapping[str, str] = ...,
        attachments: Sequence[types.SendEmailBodyAttachment] = ...,
        tags: Mapping[str, str] = ...,
        scheduled_at: Union[str, datetime] = ...,
        template_id: str = ...,
        variables: Mapping[str, Union[str, float, bool, None]] = ...,
        topic_id: str = ...,
        options: Optional[types.Options] = ...,
    ) -> types.SentEmail:
        """Send an email.

        The response is sent once the email is stored on disk. Delivery begins right after, or at `scheduledAt`.

        from_: Sender, `a@b` or `Name <a@b>`, at a verified domain.

        to: Up to 50 addresses.

        cc: Up to 50 addresses.

        bcc: Up to 50 addresses, which the other recipients do not see.

        reply_to: Addresses that receive replies.

        subject: One line. Replaces the subject of the template.

        html: Required when `text` and `templateId` are absent. At most 2 MiB.

        text: Generated from the HTML when absent. Replaces the text of the template. At most 2 MiB.

        amp: AMP for email, which some mail programs show instead of the HTML: a document with `<html ⚡4email>`. It needs `html` or `templateId`, and has at most 200,000 bytes. Its placeholders are rendered like those of `html`, and its links are never tracked.

        calendar: An invitation, which mail programs show with buttons to answer. It is also attached as invite.ics.

        headers: Your own header fields: up to 50, 16 KiB in total. Text that is not ASCII is encoded, and long values are folded. Reserved names are refused. With `TLS-Required: No` (RFC 8689), policies about TLS of the recipients’ domains do not hold the email up.

        attachments: Up to 10 files, 25 MiB in total.

        tags: Your own labels, by which emails can be found: up to 10 pairs of strings of 1 to 256 characters.

        scheduled_at: ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now.

        template_id: Id of a stored template, which is used instead of `html` and is always rendered.

        variables: Up to 50 values for the placeholders of the template; strings have at most 10 KiB. Without a template, they fill in `subject`, `html` and `text`, which stay as they are when `variables` is absent.

        topic_id: Required when `type` is broadcast. Recipients who have unsubscribed or opted out of the topic are suppressed, and so are those without a choice when the topic is off by default."""
        ...
    def send_batch(
        self,
        *,
        emails: Sequence[types.SendEmailBody],
        options: Optional[types.Options] = ...,
    ) -> types.SentBatch:
        """Send up to 100 emails.

        The response is sent once all accepted emails are stored on disk. An email that is refused has an error in its item and does not affect the others. An Idempotency-Key applies to the batch as a whole. Apart from its attachments, the body may have at most 16 MiB. The rendered content of its emails may have at most 32 MiB together.

        emails: Up to 100 emails, each with the fields of POST /v1/emails."""
        ...


class Exports:
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete an export.

        Deletes an export that has ended, with its file."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Export:
        """Retrieve an export.

        Returns the export with this id."""
        ...
    def get_file(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download the file of an export.

        Returns the file of a completed export, as long as its audience exists. A cell that begins like a formula is preceded by an apostrophe, which an import removes."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["waiting", "queued", "running", "completed", "failed"], str] = ...,
        kind: Union[Literal["contacts", "suppressions", "recipients", "links"], str] = ...,
        audience_id: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Export]:
        """List exports.

        Returns a page of exports, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: Only jobs with this status.

        kind: Kind of the rows. `recipients` and `links` are those of a broadcast, and are only exported.

        audience_id: Only jobs for the contacts of this audience."""
        ...


class Imports:
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete an import.

        Deletes an import that has ended. The imported rows stay."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Import:
        """Retrieve an import.

        Returns the import with this id."""
        ...
    def get_errors(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> Stream:
        """Download the rows that were not imported.

        Returns the rows that failed so far, at most 10,000, in the order of the file."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["waiting", "queued", "running", "completed", "failed"], str] = ...,
        kind: Union[Literal["contacts", "suppressions", "recipients", "links"], str] = ...,
        audience_id: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Import]:
        """List imports.

        Returns a page of imports, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: Only jobs with this status.

        kind: Kind of the rows. `recipients` and `links` are those of a broadcast, and are only exported.

        audience_id: Only jobs for the contacts of this audience."""
        ...


class Inbound:
    messages: InboundMessages
    routes: InboundRoutes


class Mailboxes:
    app_passwords: MailboxesAppPasswords
    drafts: MailboxesDrafts
    folders: MailboxesFolders
    imports: MailboxesImports
    messages: MailboxesMessages
    threads: MailboxesThreads
    def create(
        self,
        *,
        address: str,
        kind: Union[Literal["personal", "shared"], str] = ...,
        members: Sequence[str] = ...,
        display_name: Optional[str] = ...,
        aliases: Sequence[str] = ...,
        vacation: Optional[types.MailboxVacationInput] = ...,
        forward_to: Sequence[str] = ...,
        keep_copy: bool = ...,
        rules: Sequence[types.MailboxRuleInput] = ...,
        password: str = ...,
        password_login: bool = ...,
        password_recovery: bool = ...,
        scram_login: bool = ...,
        quota_bytes: int = ...,
        disabled_capabilities: Sequence[str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.CreatedMailbox:
        """Create a mailbox.

        A password that the server has made is in this response, and is not shown again.

        address: Address at a verified domain whose `productType` is `mailbox` or `both`. Letters are compared without case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.

        kind: A `shared` mailbox has no password: its members sign in to it with app passwords of their own, and may send from its addresses.

        members: Addresses of the mailboxes whose owners use this one, if it is shared.

        display_name: Name of the person or the role that the mailbox is for.

        aliases: Further addresses whose mail arrives in this mailbox, at domains for which the rules of `address` hold. `*@<domain>` stands for all addresses of a domain that nothing else receives for; one mailbox can have it.

        vacation: Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name the address of the mailbox in To or Cc.

        forward_to: Addresses that all mail of the mailbox is forwarded to.

        keep_copy: False when mail that is forwarded is not stored. The rules are then not applied.

        rules: Rules for new mail, in their order. They come before the script that the owner has made active by ManageSieve, which gets the mail that they leave in the inbox.

        password: Password of 8 to 256 characters. Without one, the server makes one and shows it in this response alone.

        password_login: False when only app passwords open the mailbox.

        password_recovery: False when the owner of the mailbox may not set a forgotten password anew by a link to an address elsewhere.

        scram_login: Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs is easier to attack than the hash, should the database be stolen. By default it is true for a password that the server makes, and false for another.

        quota_bytes: Maximum size of the stored messages, in bytes.

        disabled_capabilities: IMAP capabilities that this mailbox is not offered, for a mail program that has trouble with one."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a mailbox.

        Deletes a mailbox with all its messages for good. Its addresses are free at once, and its mail programs are disconnected."""
        ...
    def delete_recovery_address(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Remove the recovery address of a mailbox.

        Removes the address, if there is one. A link that was mailed there does not work any more. `passwordRecovery: false` of the mailbox forbids another one."""
        ...
    def end_sessions(
        self,
        id: str,
        /,
        *,
        session: str = ...,
        options: Optional[types.Options] = ...,
    ) -> types.EndedSessions:
        """End sessions of a mailbox.

        Disconnects one mail program, or all. A program that knows a password connects again: revoke its app password, or change the password of the mailbox, to keep it out.

        session: The session to end; without it, all sessions of the mailbox end."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Mailbox:
        """Retrieve a mailbox.

        Returns the mailbox with this id."""
        ...
    def get_recovery_address(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.RecoveryAddress:
        """Retrieve the recovery address of a mailbox.

        Returns the address elsewhere to which the owner of the mailbox gets a link for a new password. The owner sets it in the dashboard."""
        ...
    def get_settings(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.MailSettings:
        """Retrieve the settings for mail programs.

        Returns what the owner of the mailbox enters in a mail program. It has no password."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        address: str = ...,
        domain: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Mailbox]:
        """List mailboxes.

        Returns a page of mailboxes, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        address: Only the mailbox with exactly this address, as its own or as an alias.

        domain: Only mailboxes of this domain."""
        ...
    def list_sessions(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.MailboxSessions:
        """List the sessions of a mailbox.

        Returns the mail programs that are logged in to the mailbox at the moment."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        display_name: Optional[str] = ...,
        password: str = ...,
        password_login: bool = ...,
        password_recovery: bool = ...,
        time_zone: Optional[str] = ...,
        members: Sequence[str] = ...,
        vacation: Optional[types.MailboxVacationInput] = ...,
        forward_to: Sequence[str] = ...,
        keep_copy: bool = ...,
        rules: Sequence[types.MailboxRuleInput] = ...,
        aliases: Sequence[str] = ...,
        scram_login: bool = ...,
        quota_bytes: int = ...,
        disabled_capabilities: Sequence[str] = ...,
        status: Union[Literal["active", "suspended"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Mailbox:
        """Update a mailbox.

        Omitted fields keep their values. Mail programs are disconnected when the mailbox gets another password or is suspended.

        display_name: Name of the person or the role that the mailbox is for.

        password: Password of 8 to 256 characters. It is stored as a hash, and never shown again.

        password_login: False when only app passwords open the mailbox.

        password_recovery: False when the owner of the mailbox may not set a forgotten password anew by a link to an address elsewhere.

        time_zone: IANA name of the zone in which My mailbox shows times to the owner; null for UTC.

        members: Addresses of the mailboxes whose owners use this one, if it is shared.

        vacation: Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name the address of the mailbox in To or Cc.

        forward_to: Addresses that all mail of the mailbox is forwarded to.

        keep_copy: False when mail that is forwarded is not stored. The rules are then not applied.

        rules: Rules for new mail, in their order. They come before the script that the owner has made active by ManageSieve, which gets the mail that they leave in the inbox.

        aliases: Further addresses whose mail arrives in this mailbox, at domains for which the rules of `address` hold. `*@<domain>` stands for all addresses of a domain that nothing else receives for; one mailbox can have it.

        scram_login: Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs is easier to attack than the hash, should the database be stolen. By default it is true for a password that the server makes, and false for another.

        quota_bytes: Maximum size of the stored messages, in bytes.

        disabled_capabilities: IMAP capabilities that this mailbox is not offered, for a mail program that has trouble with one.

        status: A `suspended` mailbox takes no mail, so that senders try again later, and nobody may log in."""
        ...


class Metrics:
    def get(
        self,
        *,
        from_: str = ...,
        to: str = ...,
        interval: Union[Literal["hour", "day"], str] = ...,
        domain_id: str = ...,
        type: Union[Literal["transactional", "broadcast"], str] = ...,
        broadcast_id: str = ...,
        provider: Union[Literal["gmail", "yahoo", "microsoft", "apple", "other"], str] = ...,
        group_by: Union[Literal["domain", "type", "broadcast", "provider"], str] = ...,
        tag: str = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Metrics:
        """Count what became of your mail.

        Adds up the events of the mode of the key by hour or day, with rates. Counters change together with the events, so the answer is always up to date. Opens and clicks are those of tracked mail; rates count people alone.

        from_: Beginning; rounded down to a whole hour or day. By default 30 days before `to`, or 24 hours with `interval=hour`. ISO 8601 with an offset.

        to: End; rounded up. By default now. ISO 8601 with an offset.

        interval: Length of a row; days are those of UTC. At most 31 days by hour, and 400 by day.

        domain_id: Only mail from this domain.

        type: Only mail of this type.

        broadcast_id: Only copies of this broadcast.

        provider: Only recipients at this provider, which is told by the domain of their address.

        group_by: Divides each row, and the totals, by this.

        tag: A tag such as `campaign:spring`. Counts the emails with this tag that were accepted between `from` and `to`. At most 31 days; it takes longer, and a tenant gets one such answer at a time."""
        ...


class Plan:
    def get(
        self,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Plan:
        """Retrieve the plan and its use.

        Returns the limits of the plan, the emails counted in this calendar month (UTC), and the size of the received mail and the reports that are stored."""
        ...


class RequestLog:
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        status: Union[Literal["2xx", "3xx", "4xx", "5xx"], str] = ...,
        method: Union[Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"], str] = ...,
        key_id: str = ...,
        path: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.LoggedRequest]:
        """List requests.

        Returns the requests that keys of this mode have made, the newest first, without bodies and queries. The last 10,000 are kept. Reads of this list are not part of it.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        status: Class of the status.

        method: Method of the request.

        key_id: Id of the API key of the request.

        path: Beginning of the path, such as `/v1/emails`."""
        ...


class Segments:
    def count(
        self,
        *,
        audience_id: str,
        filter: types.SegmentFilterInput,
        options: Optional[types.Options] = ...,
    ) -> types.ContactCount:
        """Count the contacts that a filter finds.

        Tries a filter before it is saved. Nothing is stored.

        audience_id: The audience that the segment belongs to.

        filter: A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else."""
        ...
    def create(
        self,
        *,
        name: str,
        audience_id: str,
        filter: types.SegmentFilterInput,
        options: Optional[types.Options] = ...,
    ) -> types.Segment:
        """Create a segment.

        Returns the whole segment, with its id.

        audience_id: The audience that the segment belongs to.

        filter: A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a segment.

        Deletes the segment for good."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        count: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Segment:
        """Retrieve a segment.

        Returns a segment with the number of its contacts.

        count: False leaves out the number of contacts, which takes a second for a million of them."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        audience_id: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Segment]:
        """List segments.

        Returns a page of segments, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        audience_id: Only segments of this audience."""
        ...
    def list_contacts(
        self,
        id: str,
        /,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Contact]:
        """List the contacts of a segment.

        A request scans a bounded number of contacts of the audience, so a page can be short or empty although more contacts follow. Continue with `nextCursor` until `hasMore` is false.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        name: str = ...,
        filter: types.SegmentFilterInput = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Segment:
        """Update a segment.

        Omitted fields keep their values.

        filter: A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else."""
        ...


class Simulator:
    def delete_reply(
        self,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Remove the reply of the simulator.

        The simulator answers as the addresses of recipients say again, also to email that was deferred before. It needs a test key."""
        ...
    def get_reply(
        self,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.SimulatorReply:
        """Retrieve the reply of the simulator.

        Returns the SMTP reply that was chosen for test mail. It needs a test key."""
        ...
    def set_reply(
        self,
        *,
        code: int,
        enhanced_code: Optional[str] = ...,
        text: str = ...,
        recipients: Union[Literal["custom", "all"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.SimulatorReply:
        """Choose the reply of the simulator.

        From now on, the simulator gives this SMTP reply to test mail of the tenant, and an email becomes what a reply of a real server would make of it. A deferred email is tried again after two seconds, and then as live mail is. Live mail is not affected. It needs a test key.

        code: Reply code: 2yz accepts the email, 4yz defers it, 5yz refuses it.

        enhanced_code: Enhanced status code, such as `4.2.2`. Its first digit is that of the code.

        text: Text of the reply: one line of printable ASCII.

        recipients: `custom`: the reply is for `custom@simulator.HOSTNAME`, also with a label, as in `custom+ann`. `all`: for every recipient of test mail."""
        ...


class Suppressions:
    def create(
        self,
        *,
        email: str,
        reason: Union[Literal["manual", "bounce", "complaint", "unsubscribe"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Suppression:
        """Suppress an address.

        Returns 201, or 200 when the address was suppressed already.

        email: One address. Letters are compared without case.

        reason: Reason; default manual. Of two reasons the stronger is kept: complaint, bounce, unsubscribe, manual."""
        ...
    def create_batch(
        self,
        *,
        suppressions: Sequence[types.CreateSuppressionBody],
        options: Optional[types.Options] = ...,
    ) -> types.CreateSuppressionsAnswer:
        """Suppress up to 100 addresses.

        An address that is refused has an error in its item and does not affect the others."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a suppression.

        By its id, or by the address, percent-encoded and in any case."""
        ...
    def delete_batch(
        self,
        *,
        emails: Sequence[str],
        options: Optional[types.Options] = ...,
    ) -> types.DeleteSuppressionsAnswer:
        """Remove up to 100 addresses from the list.

        Each address is removed independently; the response has one item for each, in the same order."""
        ...
    def export_csv(
        self,
        *,
        reason: Union[Literal["manual", "bounce", "complaint", "unsubscribe"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Export:
        """Export suppressions to a CSV file.

        The file can be downloaded when the status in `GET /v1/exports/{id}` is `completed`.

        reason: Only suppressions with this reason."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Suppression:
        """Retrieve a suppression.

        By its id, or by the address, percent-encoded and in any case."""
        ...
    def import_csv(
        self,
        file: File,
        /,
        *,
        reason: Union[Literal["manual", "bounce", "complaint", "unsubscribe"], str] = ...,
        mapping: str = ...,
        encoding: Union[Literal["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"], str] = ...,
        preview: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.SuppressionImportPreview:
        """Import suppressions from a CSV file.

        The response is sent once the file is on disk. Its rows are imported afterwards; `GET /v1/imports/{id}` shows the progress. No events are recorded for them. With `?preview=true` nothing is imported.

        reason: Reason for rows that name none, or one that is not understood; default manual.

        mapping: Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the number of a column counted from 1. A value is a field (`email`, `reason`, `diagnostic`, `createdAt`), or null to leave the column out. It wins over the known headings.

        encoding: Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise Windows-1252.

        preview: True imports nothing, and returns how the file would be read: its columns, its first rows, and warnings."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        email: str = ...,
        reason: Union[Literal["manual", "bounce", "complaint", "unsubscribe"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Suppression]:
        """List suppressions.

        Returns a page of suppressions, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        email: Only this address, in any case of letters.

        reason: Only suppressions with this reason."""
        ...


class Templates:
    versions: TemplatesVersions
    def create(
        self,
        *,
        name: str,
        subject: str,
        html: str,
        text: Optional[str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Template:
        """Create a template.

        Returns the whole template, with its id.

        name: Name for your own use. Several templates may have the same name.

        subject: Subject, which may contain {{variable}} placeholders.

        html: `{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is percent-encoded, unless it is the whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.

        text: Generated from the HTML when absent. At most 1 MiB."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a template.

        Mail that was accepted before is still sent with the content of the template."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Template:
        """Retrieve a template.

        Returns the template with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        name: str = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.TemplateSummary]:
        """List templates.

        Returns a page of templates, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it.

        name: Only templates with exactly this name."""
        ...
    def preview(
        self,
        *,
        subject: str,
        html: str,
        text: Optional[str] = ...,
        variables: Mapping[str, Union[str, float, bool, None]] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.TemplatePreview:
        """Preview a template.

        Renders a content as an email with these variables would have it. Nothing is stored. A content that no template may have is refused as it is when a template is saved.

        subject: Subject, which may contain {{variable}} placeholders.

        html: `{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is percent-encoded, unless it is the whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.

        text: Generated from the HTML when absent. At most 1 MiB.

        variables: Up to 50 values for the placeholders; strings have at most 10 KiB."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        name: str = ...,
        subject: str = ...,
        html: str = ...,
        text: Optional[str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Template:
        """Update a template.

        Fields that are left out stay as they are. Mail that was accepted before does not change. A change of the content makes a new version. A key that requires approval cannot change the content that mail is planned with which needs none.

        name: Name for your own use. Several templates may have the same name.

        subject: Subject, which may contain {{variable}} placeholders.

        html: `{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is percent-encoded, unless it is the whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.

        text: Generated from the HTML when absent. At most 1 MiB."""
        ...


class Topics:
    def create(
        self,
        *,
        name: str,
        description: Optional[str] = ...,
        default_opt_in: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Topic:
        """Create a topic.

        Returns the whole topic, with its id.

        name: Name for your own use; readers do not see it.

        description: Description that preference pages show.

        default_opt_in: True when readers who made no choice receive this mail; default true."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a topic.

        Deletes a topic and the choices of it. Mail that was accepted before is still sent. The next change of a draft that names the topic must set another one, or null."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.Topic:
        """Retrieve a topic.

        Returns the topic with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.Topic]:
        """List topics.

        Returns a page of topics, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        name: str = ...,
        description: Optional[str] = ...,
        default_opt_in: bool = ...,
        options: Optional[types.Options] = ...,
    ) -> types.Topic:
        """Update a topic.

        Fields that are left out stay as they are. A new default applies to readers who made no choice. A key that requires approval cannot change a topic that a scheduled broadcast names.

        name: Name for your own use; readers do not see it.

        description: Description that preference pages show.

        default_opt_in: True when readers who made no choice receive this mail; default true."""
        ...


class Webhooks:
    deliveries: WebhooksDeliveries
    def count_replay(
        self,
        id: str,
        /,
        *,
        since: Union[str, datetime] = ...,
        status: Union[Literal["failed", "skipped"], str] = ...,
        maximum: int = ...,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookReplayCount:
        """Count failed and skipped deliveries.

        Returns how many deliveries would be posted again now, and posts none. The request is refused while the endpoint is disabled.

        since: Time in ISO 8601 with an offset; only deliveries created then or later.

        status: State of the deliveries; default both.

        maximum: Number at which counting stops."""
        ...
    def create(
        self,
        *,
        url: str,
        events: Sequence[Union[Literal["email.queued", "email.sent", "email.delivered", "email.bounced", "email.complained", "email.opened", "email.clicked", "email.delivery_delayed", "email.suppressed", "email.canceled", "email.held", "email.received", "domain.verified", "domain.failed", "contact.created", "contact.updated", "contact.deleted", "contact.unsubscribed", "suppression.added", "suppression.removed", "broadcast.sent", "broadcast.paused", "broadcast.failed", "approval.requested", "approval.approved", "approval.declined", "approval.expired", "approval.withdrawn"], str]],
        description: Optional[str] = ...,
        domain_id: Optional[str] = ...,
        format: Union[Literal["default", "resend"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookEndpointWithSecret:
        """Create a webhook endpoint.

        The response contains the `secret` that signs every post. It is not shown again.

        url: https URL to which events are posted, without user name and fragment, and not on a mail port.

        events: Types of events that are posted. Repeated types are dropped.

        description: Text for your own use; null for none.

        domain_id: Domain whose events alone are posted: those of its emails, its broadcasts, the mail that arrives there, and its state. Null: the events of the whole tenant. An endpoint that is made with an API key of one domain has that domain. It cannot be changed.

        format: Shape of the posts. `resend`: that of the webhooks of Resend, with the header fields `svix-id`, `svix-timestamp` and `svix-signature`, for programs that were written for them. It cannot be changed."""
        ...
    def delete(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> None:
        """Delete a webhook endpoint.

        Deliveries that are still due are not posted."""
        ...
    def get(
        self,
        id: str,
        /,
        *,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookEndpoint:
        """Retrieve a webhook endpoint.

        Returns the webhook endpoint with this id."""
        ...
    def list(
        self,
        *,
        limit: int = ...,
        starting_after: str = ...,
        ending_before: str = ...,
        created_after: Union[str, datetime] = ...,
        created_before: Union[str, datetime] = ...,
        options: Optional[types.Options] = ...,
    ) -> Page[types.WebhookEndpoint]:
        """List webhook endpoints.

        Returns a page of webhook endpoints, the newest first.

        limit: Number of items on the page.

        starting_after: Id of an item; the page contains older items.

        ending_before: Id of an item; the page contains newer items.

        created_after: Time in ISO 8601 with an offset; only items created then or later.

        created_before: Time in ISO 8601 with an offset; only items created before it."""
        ...
    def replay(
        self,
        id: str,
        /,
        *,
        since: Union[str, datetime],
        status: Union[Literal["failed", "skipped"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookReplay:
        """Post failed and skipped deliveries again.

        The oldest deliveries become due at once, the others over the next minutes. The request is refused while the endpoint is disabled, and disabling it ends a replay.

        since: Time in ISO 8601 with an offset; only deliveries created then or later.

        status: State of the deliveries; default both."""
        ...
    def rotate_secret(
        self,
        id: str,
        /,
        *,
        overlap_seconds: int = ...,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookEndpointWithSecret:
        """Replace the secret of a webhook endpoint.

        Returns the new `secret`, which is not shown again. For `overlapSeconds`, each post has two signatures: one with the new secret, then one with the previous secret. Older secrets no longer sign.

        overlap_seconds: Time for which posts are also signed with the previous secret, in seconds."""
        ...
    def test(
        self,
        id: str,
        /,
        *,
        type: Union[Literal["email.queued", "email.sent", "email.delivered", "email.bounced", "email.complained", "email.opened", "email.clicked", "email.delivery_delayed", "email.suppressed", "email.canceled", "email.held", "email.received", "domain.verified", "domain.failed", "contact.created", "contact.updated", "contact.deleted", "contact.unsubscribed", "suppression.added", "suppression.removed", "broadcast.sent", "broadcast.paused", "broadcast.failed", "approval.requested", "approval.approved", "approval.declined", "approval.expired", "approval.withdrawn"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookTestResult:
        """Post a sample event to a webhook endpoint.

        The response is sent once the receiver has answered, or after 15 s. The sample contains `"test": true`. It is posted once, also to a disabled endpoint."""
        ...
    def update(
        self,
        id: str,
        /,
        *,
        url: str = ...,
        events: Sequence[Union[Literal["email.queued", "email.sent", "email.delivered", "email.bounced", "email.complained", "email.opened", "email.clicked", "email.delivery_delayed", "email.suppressed", "email.canceled", "email.held", "email.received", "domain.verified", "domain.failed", "contact.created", "contact.updated", "contact.deleted", "contact.unsubscribed", "suppression.added", "suppression.removed", "broadcast.sent", "broadcast.paused", "broadcast.failed", "approval.requested", "approval.approved", "approval.declined", "approval.expired", "approval.withdrawn"], str]] = ...,
        description: Optional[str] = ...,
        status: Union[Literal["enabled", "disabled"], str] = ...,
        options: Optional[types.Options] = ...,
    ) -> types.WebhookEndpoint:
        """Update a webhook endpoint.

        Fields that are left out stay as they are. Deliveries that are still due are posted to the new URL. While an endpoint is disabled, its deliveries are skipped.

        url: https URL to which events are posted, without user name and fragment, and not on a mail port.

        events: Types of events that are posted. Repeated types are dropped.

        description: Text for your own use; null for none.

        status: Enabling an endpoint forgets its failures so far."""
        ...
    verify = staticmethod(verify)
    sign = staticmethod(sign)


class Resources:
    api_keys: ApiKeys
    approvals: Approvals
    audiences: Audiences
    branding: Branding
    broadcasts: Broadcasts
    contacts: Contacts
    domains: Domains
    emails: Emails
    exports: Exports
    imports: Imports
    inbound: Inbound
    mailboxes: Mailboxes
    metrics: Metrics
    plan: Plan
    request_log: RequestLog
    segments: Segments
    simulator: Simulator
    suppressions: Suppressions
    templates: Templates
    topics: Topics
    webhooks: Webhooks
