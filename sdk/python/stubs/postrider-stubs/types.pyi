# This file is written by sdk/tools/types-python.ts. Do not edit it.
from datetime import datetime
from os import PathLike
from typing import IO, Any, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from typing_extensions import NotRequired

from .objects import Object
from .transport import Cancellation

Content = Union[str, bytes, bytearray, memoryview, PathLike[str], IO[bytes], Iterable[bytes]]
"""Content of an attachment: base64 in a string, or bytes, a path, an open file or a stream."""

class Options(TypedDict, total=False):
    idempotency_key: str
    """Key of a send. A repeated send with the same key cannot send twice."""

    timeout: float
    """Seconds that a try may take."""

    deadline: float
    """Seconds that the whole call may take."""

    cancellation: Cancellation

SendEmailBodyCalendar = TypedDict(
    "SendEmailBodyCalendar",
    {
        # Method of RFC 5546, the METHOD of `content`.
        "method": Union[Literal["PUBLISH", "REQUEST", "REPLY", "ADD", "CANCEL", "REFRESH", "COUNTER", "DECLINECOUNTER"], str],
        # The calendar object (RFC 5545), BEGIN:VCALENDAR to END:VCALENDAR, at most 256 KiB. It has no placeholders.
        "content": str,
    },
)

SendEmailBodyAttachment = TypedDict(
    "SendEmailBodyAttachment",
    {
        # Name of the file, shown to the recipient. Optional when `path` ends in a file name.
        "filename": NotRequired[str],
        # Content of the file in base64 (RFC 4648 section 4).
        "content": NotRequired[Content],
        # https URL from which the file is fetched once, when the email is accepted. The server must send them uncompressed: a response with `Content-Encoding` is refused. One of `content` and `path` is required.
        "path": NotRequired[str],
        # Another name of `path`.
        "url": NotRequired[str],
        # Media type. The default follows from the extension of `filename`, or is application/octet-stream.
        "contentType": NotRequired[str],
        # Content id of an inline image: the HTML refers to it as `<img src="cid:…">`.
        "contentId": NotRequired[str],
        # How a mail program shows the file. The default is inline for a file with a `contentId` in an email with HTML, else attachment.
        "disposition": NotRequired[Union[Literal["inline", "attachment"], str]],
    },
)

SendEmailBody = TypedDict(
    "SendEmailBody",
    {
        # Sender, `a@b` or `Name <a@b>`, at a verified domain.
        "from": str,
        # Up to 50 addresses.
        "to": Union[str, Sequence[str]],
        # Up to 50 addresses.
        "cc": NotRequired[Union[str, Sequence[str]]],
        # Up to 50 addresses, which the other recipients do not see.
        "bcc": NotRequired[Union[str, Sequence[str]]],
        # Addresses that receive replies.
        "replyTo": NotRequired[Union[str, Sequence[str]]],
        # One line. Replaces the subject of the template.
        "subject": str,
        # Required when `text` and `templateId` are absent. At most 2 MiB.
        "html": NotRequired[str],
        # Generated from the HTML when absent. Replaces the text of the template. At most 2 MiB.
        "text": NotRequired[str],
        # AMP for email, which some mail programs show instead of the HTML: a document with `<html ⚡4email>`. It needs `html` or `templateId`, and has at most 200,000 bytes. Its placeholders are rendered like those of `html`, and its links are never tracked.
        "amp": NotRequired[str],
        # An invitation, which mail programs show with buttons to answer. It is also attached as invite.ics.
        "calendar": NotRequired[SendEmailBodyCalendar],
        "type": Union[Literal["transactional", "broadcast"], str],
        # Your own header fields: up to 50, 16 KiB in total. Text that is not ASCII is encoded, and long values are folded. Reserved names are refused. With `TLS-Required: No` (RFC 8689), policies about TLS of the recipients’ domains do not hold the email up.
        "headers": NotRequired[Mapping[str, str]],
        # Up to 10 files, 25 MiB in total.
        "attachments": NotRequired[Sequence[SendEmailBodyAttachment]],
        # Your own labels, by which emails can be found: up to 10 pairs of strings of 1 to 256 characters.
        "tags": NotRequired[Mapping[str, str]],
        # ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now.
        "scheduledAt": NotRequired[Union[str, datetime]],
        # Id of a stored template, which is used instead of `html` and is always rendered.
        "templateId": NotRequired[str],
        # Up to 50 values for the placeholders of the template; strings have at most 10 KiB. Without a template, they fill in `subject`, `html` and `text`, which stay as they are when `variables` is absent.
        "variables": NotRequired[Mapping[str, Union[str, float, bool, None]]],
        # Required when `type` is broadcast. Recipients who have unsubscribed or opted out of the topic are suppressed, and so are those without a choice when the topic is off by default.
        "topicId": NotRequired[str],
    },
)

SendBatchBody = TypedDict(
    "SendBatchBody",
    {
        # Up to 100 emails, each with the fields of POST /v1/emails.
        "emails": Sequence[SendEmailBody],
    },
)

StartImportBody = TypedDict(
    "StartImportBody",
    {
        # Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the number of a column counted from 1. A value is a field (`email`, `firstName`, `lastName`, `name`, `status`, `subscribed`, `unsubscribed`, `unsubscribedAt`, `pending`, `topics.<id>`, `properties.<key>`), or null to leave the column out. It wins over the known headings.
        "mapping": NotRequired[str],
        # Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise Windows-1252.
        "encoding": NotRequired[Union[Literal["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"], str]],
        # Whether contacts that exist already are updated or skipped; default update. Neither subscribes a contact again.
        "onConflict": NotRequired[Union[Literal["update", "skip"], str]],
    },
)

CreateTopicBody = TypedDict(
    "CreateTopicBody",
    {
        # Name for your own use; readers do not see it.
        "name": str,
        # Description that preference pages show.
        "description": NotRequired[Optional[str]],
        # True when readers who made no choice receive this mail; default true.
        "defaultOptIn": NotRequired[bool],
    },
)

UpdateTopicBody = TypedDict(
    "UpdateTopicBody",
    {
        # Name for your own use; readers do not see it.
        "name": NotRequired[str],
        # Description that preference pages show.
        "description": NotRequired[Optional[str]],
        # True when readers who made no choice receive this mail; default true.
        "defaultOptIn": NotRequired[bool],
    },
)

CreateApiKeyBody = TypedDict(
    "CreateApiKeyBody",
    {
        "name": str,
        # Mode of the key. It must be the mode of the requesting key.
        "mode": NotRequired[Union[Literal["live", "test"], str]],
        # Requests that the key permits: all; only sending, retrieving and canceling emails; only reading.
        "permission": Union[Literal["full_access", "sending_access", "read_only"], str],
        # The only domain that the key reaches: it sends from there, and sees and changes what belongs to it; null: any.
        "domainId": NotRequired[Optional[str]],
        # Addresses and CIDR blocks from which the key may be used; null allows any.
        "allowedIps": NotRequired[Optional[Sequence[str]]],
        # ISO 8601 with an offset; null: never.
        "expiresAt": NotRequired[Optional[Union[str, datetime]]],
        # Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type broadcast. `broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and mailboxes, and approves nothing. Null: none.
        "requiresApproval": NotRequired[Optional[Union[Literal["broadcasts", "broadcasts_and_emails"], str]]],
    },
)

UpdateApiKeyBody = TypedDict(
    "UpdateApiKeyBody",
    {
        "name": NotRequired[str],
        # Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type broadcast. `broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and mailboxes, and approves nothing. Null: none.
        "requiresApproval": NotRequired[Optional[Union[Literal["broadcasts", "broadcasts_and_emails"], str]]],
    },
)

CreateDomainBody = TypedDict(
    "CreateDomainBody",
    {
        # Name of an apex domain or a subdomain.
        "name": str,
        # Purpose of the domain; default api.
        "productType": NotRequired[Union[Literal["api", "mailbox", "both"], str]],
        # One of the configured region codes; default the first.
        "region": NotRequired[str],
        # Sign with an Ed25519 key too, once its optional record is found in DNS (RFC 8463); default false.
        "ed25519": NotRequired[bool],
    },
)

UpdateDomainBody = TypedDict(
    "UpdateDomainBody",
    {
        # Host name below the domain for tracked links; null for none.
        "trackingSubdomain": NotRequired[Optional[str]],
        "openTracking": NotRequired[bool],
        "clickTracking": NotRequired[bool],
        # Purpose of the domain.
        "productType": NotRequired[Union[Literal["api", "mailbox", "both"], str]],
        # One of the configured region codes.
        "region": NotRequired[str],
        # Sign with an Ed25519 key too, once its optional record is found in DNS.
        "ed25519": NotRequired[bool],
    },
)

ApproveEmailBody = TypedDict(
    "ApproveEmailBody",
    {
        # The `approval.hash` of what was read. Something else is not approved.
        "hash": str,
    },
)

DeclineEmailBody = TypedDict(
    "DeclineEmailBody",
    {
        # The `approval.hash` of what was read. Something else is not approved.
        "hash": str,
        # Why, for the author.
        "reason": NotRequired[Optional[str]],
    },
)

CountSegmentBody = TypedDict(
    "CountSegmentBody",
    {
        # The audience that the segment belongs to.
        "audienceId": str,
        # A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else.
        "filter": SegmentFilterInput,
    },
)

SegmentFilterInput = TypedDict(
    "SegmentFilterInput",
    {
        # `and`: all rules must hold; `or`: at least one must hold. Letters may have any case, as in `AND`.
        "op": str,
        "rules": Sequence[SegmentFilterRuleInput],
    },
)

SegmentFilterRuleInput = TypedDict(
    "SegmentFilterRuleInput",
    {
        # `email`, `firstName`, `lastName`, `unsubscribed`, `createdAt`, `delivered`, `opened`, `clicked`, `topics.<id>` or `properties.<key>`.
        "field": NotRequired[str],
        "cmp": NotRequired[Union[Literal["eq", "ne", "gt", "gte", "lt", "lte", "contains", "not_contains", "starts_with", "ends_with", "in", "not_in", "exists", "not_exists", "before", "after", "within_days", "not_within_days"], str]],
        # Value to compare with: a string, number or boolean; for `in` and `not_in` a list of up to 100 of them; for `before` and `after` a date such as 2026-01-31, whose day in UTC is neither before nor after it, or an ISO 8601 time with an offset; for `within_days` and `not_within_days` a number of days up to 3650; for `delivered`, `opened` and `clicked` otherwise the id of a broadcast; for `exists` and `not_exists` nothing.
        "value": NotRequired[Any],
        # `and`: all rules must hold; `or`: at least one must hold. Letters may have any case, as in `AND`.
        "op": NotRequired[str],
        # Rules of a group. A group has `op` and `rules` instead of the fields of a rule.
        "rules": NotRequired[Sequence[SegmentFilterRuleInput]],
    },
)

TestBroadcastBody = TypedDict(
    "TestBroadcastBody",
    {
        # Up to 10 addresses. Each gets an email of its own, and a repeated address gets one.
        "to": Sequence[str],
        # Contact of the audience whose values fill in the merge tags. Without a contact, their fallbacks do.
        "contactId": NotRequired[Optional[str]],
    },
)

CreateContactBodyConsent = TypedDict(
    "CreateContactBodyConsent",
    {
        # IP address of the person who asked for the subscription, as the proof of it.
        "requestedIp": str,
    },
)

CreateContactBody = TypedDict(
    "CreateContactBody",
    {
        # One address without a name; unique in its audience in any case of letters.
        "email": str,
        "firstName": NotRequired[Optional[str]],
        "lastName": NotRequired[Optional[str]],
        # True when the contact is unsubscribed from all marketing mail; default false.
        "unsubscribed": NotRequired[bool],
        # Topics that are not named keep their choice, or the default of the topic.
        "topics": NotRequired[Sequence[ContactTopicInput]],
        # Your own fields, for segments and merge tags. At most 100 of them, 32 KiB of JSON together.
        "properties": NotRequired[Mapping[str, Union[str, float, bool]]],
        # With `pending`, the contact gets a confirmation mail from the sender in `optIn` of its audience, and no marketing mail before its reader has confirmed. Default `subscribed`. It applies to new contacts: nobody who has confirmed or left is changed by it, and a pending contact stays pending.
        "status": NotRequired[Union[Literal["subscribed", "pending"], str]],
        # Only with the status `pending`.
        "consent": NotRequired[CreateContactBodyConsent],
    },
)

ContactTopicInput = TypedDict(
    "ContactTopicInput",
    {
        "id": str,
        "subscription": Union[Literal["opt_in", "opt_out"], str],
    },
)

UpdateContactBody = TypedDict(
    "UpdateContactBody",
    {
        # One address without a name; unique in its audience in any case of letters.
        "email": NotRequired[str],
        "firstName": NotRequired[Optional[str]],
        "lastName": NotRequired[Optional[str]],
        # True when the contact is unsubscribed from all marketing mail; default false.
        "unsubscribed": NotRequired[bool],
        # Topics that are not named keep their choice, or the default of the topic.
        "topics": NotRequired[Sequence[ContactTopicInput]],
        # Merged with the present properties; null removes one. At most 100 of them, 32 KiB of JSON together.
        "properties": NotRequired[Mapping[str, Union[str, float, bool, None]]],
    },
)

CreateMailboxBody = TypedDict(
    "CreateMailboxBody",
    {
        # Address at a verified domain whose `productType` is `mailbox` or `both`. Letters are compared without case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.
        "address": str,
        # A `shared` mailbox has no password: its members sign in to it with app passwords of their own, and may send from its addresses.
        "kind": NotRequired[Union[Literal["personal", "shared"], str]],
        # Addresses of the mailboxes whose owners use this one, if it is shared.
        "members": NotRequired[Sequence[str]],
        # Name of the person or the role that the mailbox is for.
        "displayName": NotRequired[Optional[str]],
        # Further addresses whose mail arrives in this mailbox, at domains for which the rules of `address` hold. `*@<domain>` stands for all addresses of a domain that nothing else receives for; one mailbox can have it.
        "aliases": NotRequired[Sequence[str]],
        # Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name the address of the mailbox in To or Cc.
        "vacation": NotRequired[Optional[MailboxVacationInput]],
        # Addresses that all mail of the mailbox is forwarded to.
        "forwardTo": NotRequired[Sequence[str]],
        # False when mail that is forwarded is not stored. The rules are then not applied.
        "keepCopy": NotRequired[bool],
        # Rules for new mail, in their order. They come before the script that the owner has made active by ManageSieve, which gets the mail that they leave in the inbox.
        "rules": NotRequired[Sequence[MailboxRuleInput]],
        # Password of 8 to 256 characters. Without one, the server makes one and shows it in this response alone.
        "password": NotRequired[str],
        # False when only app passwords open the mailbox.
        "passwordLogin": NotRequired[bool],
        # False when the owner of the mailbox may not set a forgotten password anew by a link to an address elsewhere.
        "passwordRecovery": NotRequired[bool],
        # Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs is easier to attack than the hash, should the database be stolen. By default it is true for a password that the server makes, and false for another.
        "scramLogin": NotRequired[bool],
        # Maximum size of the stored messages, in bytes.
        "quotaBytes": NotRequired[int],
        # IMAP capabilities that this mailbox is not offered, for a mail program that has trouble with one.
        "disabledCapabilities": NotRequired[Sequence[str]],
    },
)

MailboxVacationInput = TypedDict(
    "MailboxVacationInput",
    {
        # Time from which on senders get the reply, as ISO 8601; at once when it is missing or null.
        "from": NotRequired[Optional[str]],
        # Time from which on nobody gets it any more; no end when it is missing or null.
        "until": NotRequired[Optional[str]],
        # Subject of the reply; that of the message, with "Auto: " in front, when it is missing or null.
        "subject": NotRequired[Optional[str]],
        # Text of the reply.
        "text": str,
    },
)

MailboxRuleInput = TypedDict(
    "MailboxRuleInput",
    {
        "name": NotRequired[str],
        # Whether all conditions must hold, which is the default, or any of them.
        "match": NotRequired[Union[Literal["all", "any"], str]],
        # Without any, the rule is for all mail.
        "conditions": Sequence[MailboxRuleConditionInput],
        # Folder for the message, which is created when it is missing.
        "fileInto": NotRequired[str],
        "markRead": NotRequired[bool],
        "star": NotRequired[bool],
        # Address that gets a copy.
        "forwardTo": NotRequired[str],
        # Deletes the message.
        "discard": NotRequired[bool],
        # True, which is the default, when no later rule looks at the message.
        "stop": NotRequired[bool],
    },
)

MailboxRuleConditionInput = TypedDict(
    "MailboxRuleConditionInput",
    {
        # `to` is To and Cc; `header` is the field named in `header`; `larger` and `smaller` compare the size with a number of bytes.
        "field": Union[Literal["from", "to", "subject", "header", "body", "larger", "smaller"], str],
        "header": NotRequired[str],
        # How the field is compared with the value: `contains` by default. Letters are compared without case.
        "operator": NotRequired[Union[Literal["contains", "is", "startsWith", "endsWith"], str]],
        "value": str,
        # True when the condition holds where it otherwise would not.
        "not": NotRequired[bool],
    },
)

UpdateMailboxBody = TypedDict(
    "UpdateMailboxBody",
    {
        # Name of the person or the role that the mailbox is for.
        "displayName": NotRequired[Optional[str]],
        # Password of 8 to 256 characters. It is stored as a hash, and never shown again.
        "password": NotRequired[str],
        # False when only app passwords open the mailbox.
        "passwordLogin": NotRequired[bool],
        # False when the owner of the mailbox may not set a forgotten password anew by a link to an address elsewhere.
        "passwordRecovery": NotRequired[bool],
        # IANA name of the zone in which My mailbox shows times to the owner; null for UTC.
        "timeZone": NotRequired[Optional[str]],
        # Addresses of the mailboxes whose owners use this one, if it is shared.
        "members": NotRequired[Sequence[str]],
        # Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name the address of the mailbox in To or Cc.
        "vacation": NotRequired[Optional[MailboxVacationInput]],
        # Addresses that all mail of the mailbox is forwarded to.
        "forwardTo": NotRequired[Sequence[str]],
        # False when mail that is forwarded is not stored. The rules are then not applied.
        "keepCopy": NotRequired[bool],
        # Rules for new mail, in their order. They come before the script that the owner has made active by ManageSieve, which gets the mail that they leave in the inbox.
        "rules": NotRequired[Sequence[MailboxRuleInput]],
        # Further addresses whose mail arrives in this mailbox, at domains for which the rules of `address` hold. `*@<domain>` stands for all addresses of a domain that nothing else receives for; one mailbox can have it.
        "aliases": NotRequired[Sequence[str]],
        # Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs is easier to attack than the hash, should the database be stolen. By default it is true for a password that the server makes, and false for another.
        "scramLogin": NotRequired[bool],
        # Maximum size of the stored messages, in bytes.
        "quotaBytes": NotRequired[int],
        # IMAP capabilities that this mailbox is not offered, for a mail program that has trouble with one.
        "disabledCapabilities": NotRequired[Sequence[str]],
        # A `suspended` mailbox takes no mail, so that senders try again later, and nobody may log in.
        "status": NotRequired[Union[Literal["active", "suspended"], str]],
    },
)

CreateSegmentBody = TypedDict(
    "CreateSegmentBody",
    {
        "name": str,
        # The audience that the segment belongs to.
        "audienceId": str,
        # A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else.
        "filter": SegmentFilterInput,
    },
)

UpdateSegmentBody = TypedDict(
    "UpdateSegmentBody",
    {
        "name": NotRequired[str],
        # A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else.
        "filter": NotRequired[SegmentFilterInput],
    },
)

CreateAudienceBody = TypedDict(
    "CreateAudienceBody",
    {
        "name": str,
        # Double opt-in: the confirmation mail of pending contacts. Null when contacts cannot be pending.
        "optIn": NotRequired[Optional[AudienceOptInInput]],
    },
)

AudienceOptInInput = TypedDict(
    "AudienceOptInInput",
    {
        # Sender of the confirmation mail, at a verified domain.
        "from": str,
        "replyTo": NotRequired[Optional[str]],
        "subject": NotRequired[Optional[str]],
        # Template of the mail, with {{{confirm_url}}} for the link. Without one, a plain mail in the `language` is sent.
        "templateId": NotRequired[Optional[str]],
        # Default en.
        "language": NotRequired[Union[Literal["en", "de", "fr", "es"], str]],
    },
)

UpdateAudienceBody = TypedDict(
    "UpdateAudienceBody",
    {
        "name": NotRequired[str],
        # Double opt-in: the confirmation mail of pending contacts. Null when contacts cannot be pending.
        "optIn": NotRequired[Optional[AudienceOptInInput]],
    },
)

ChangeBrandingBody = TypedDict(
    "ChangeBrandingBody",
    {
        # Name of the sender. At most 100 characters.
        "name": NotRequired[Optional[str]],
        # Colour of the buttons and of the heading, as `#rrggbb`. Its contrast to the text on it must be at least 4.5.
        "color": NotRequired[Optional[str]],
        # Colour of the text on `color`; white when it is null.
        "textColor": NotRequired[Optional[str]],
        # Colour on pages that are dark because the reader prefers it; `color` when it is null.
        "darkColor": NotRequired[Optional[str]],
        # Colour of the text on `darkColor`; `textColor` when it is null.
        "darkTextColor": NotRequired[Optional[str]],
        # PNG, JPEG, GIF or still WebP image in base64, of at most 1 MiB and 4,000,000 pixels. It is written anew as PNG, without animation, within 480 × 160 pixels, and shown on white at half that size.
        "logo": NotRequired[Optional[str]],
    },
)

ExportContactsBody = TypedDict(
    "ExportContactsBody",
    {
        # Only contacts of this segment, which must belong to the audience.
        "segmentId": NotRequired[str],
        # Only contacts that are unsubscribed (true), or only those that are not (false).
        "unsubscribed": NotRequired[bool],
    },
)

CreateTemplateBody = TypedDict(
    "CreateTemplateBody",
    {
        # Name for your own use. Several templates may have the same name.
        "name": str,
        # Subject, which may contain {{variable}} placeholders.
        "subject": str,
        # `{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is percent-encoded, unless it is the whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.
        "html": str,
        # Generated from the HTML when absent. At most 1 MiB.
        "text": NotRequired[Optional[str]],
    },
)

UpdateTemplateBody = TypedDict(
    "UpdateTemplateBody",
    {
        # Name for your own use. Several templates may have the same name.
        "name": NotRequired[str],
        # Subject, which may contain {{variable}} placeholders.
        "subject": NotRequired[str],
        # `{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is percent-encoded, unless it is the whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.
        "html": NotRequired[str],
        # Generated from the HTML when absent. At most 1 MiB.
        "text": NotRequired[Optional[str]],
    },
)

PreviewBrandingBody = TypedDict(
    "PreviewBrandingBody",
    {
        # Name of the sender. At most 100 characters.
        "name": NotRequired[Optional[str]],
        # Colour of the buttons and of the heading, as `#rrggbb`. Its contrast to the text on it must be at least 4.5.
        "color": NotRequired[Optional[str]],
        # Colour of the text on `color`; white when it is null.
        "textColor": NotRequired[Optional[str]],
        # Colour on pages that are dark because the reader prefers it; `color` when it is null.
        "darkColor": NotRequired[Optional[str]],
        # Colour of the text on `darkColor`; `textColor` when it is null.
        "darkTextColor": NotRequired[Optional[str]],
        # PNG, JPEG, GIF or still WebP image in base64, of at most 1 MiB and 4,000,000 pixels. It is written anew as PNG, without animation, within 480 × 160 pixels, and shown on white at half that size.
        "logo": NotRequired[Optional[str]],
        # `unsubscribe`: the page behind the link of a mail; `preferences`: the one with the topics; `confirmation`: the one behind the link of a confirmation mail.
        "page": Union[Literal["unsubscribe", "preferences", "confirmation"], str],
        "language": NotRequired[Union[Literal["en", "de", "fr", "es"], str]],
    },
)

CreateBroadcastBody = TypedDict(
    "CreateBroadcastBody",
    {
        # Audience that receives the broadcast. Required when `segmentId` is absent.
        "audienceId": NotRequired[Optional[str]],
        # Segment whose contacts receive the broadcast. When `audienceId` is given too, the segment must belong to that audience.
        "segmentId": NotRequired[Optional[str]],
        # Address that receives replies.
        "replyTo": NotRequired[Optional[str]],
        # Topic of the broadcast, so that readers can opt out of this kind of mail alone. Recommended.
        "topicId": NotRequired[Optional[str]],
        # Id of a stored template, which is used instead of `html`.
        "templateId": NotRequired[Optional[str]],
        # Required when `templateId` is absent. Merge tags such as `{{firstName|there}}` are escaped. The HTML must contain `{{{unsubscribe_url}}}`, the only tag allowed in three braces. At most 1 MiB.
        "html": NotRequired[Optional[str]],
        # Generated from the HTML when absent. Replaces the text of the template. It must contain `{{{unsubscribe_url}}}` too. At most 1 MiB.
        "text": NotRequired[Optional[str]],
        # Time at which the broadcast is sent, in ISO 8601 with an offset, at most a year ahead. A time that has passed means now. Without it the broadcast is a draft; null makes it a draft again.
        "scheduleAt": NotRequired[Optional[Union[str, datetime]]],
        # How fast the broadcast is sent, with exactly one field. Without it, as fast as receivers accept the mail. It can be changed while the broadcast is sent or paused.
        "pace": NotRequired[Optional[BroadcastPaceInput]],
        # Sender, `a@b` or `Name <a@b>`, at a verified domain.
        "from": str,
        # One line, which may contain merge tags such as {{firstName}}. Replaces the subject of the template.
        "subject": str,
    },
)

BroadcastPaceInput = TypedDict(
    "BroadcastPaceInput",
    {
        # Maximum number of copies in an hour.
        "perHour": NotRequired[int],
        # Maximum number of copies in a day.
        "perDay": NotRequired[int],
        # Time by which all copies are made, spread evenly, in ISO 8601 with an offset.
        "finishBy": NotRequired[str],
    },
)

UpdateBroadcastBody = TypedDict(
    "UpdateBroadcastBody",
    {
        # Audience that receives the broadcast. Required when `segmentId` is absent.
        "audienceId": NotRequired[Optional[str]],
        # Segment whose contacts receive the broadcast. When `audienceId` is given too, the segment must belong to that audience.
        "segmentId": NotRequired[Optional[str]],
        # Sender, `a@b` or `Name <a@b>`, at a verified domain.
        "from": NotRequired[str],
        # One line, which may contain merge tags such as {{firstName}}. Replaces the subject of the template.
        "subject": NotRequired[str],
        # Address that receives replies.
        "replyTo": NotRequired[Optional[str]],
        # Topic of the broadcast, so that readers can opt out of this kind of mail alone. Recommended.
        "topicId": NotRequired[Optional[str]],
        # Id of a stored template, which is used instead of `html`.
        "templateId": NotRequired[Optional[str]],
        # Required when `templateId` is absent. Merge tags such as `{{firstName|there}}` are escaped. The HTML must contain `{{{unsubscribe_url}}}`, the only tag allowed in three braces. At most 1 MiB.
        "html": NotRequired[Optional[str]],
        # Generated from the HTML when absent. Replaces the text of the template. It must contain `{{{unsubscribe_url}}}` too. At most 1 MiB.
        "text": NotRequired[Optional[str]],
        # Time at which the broadcast is sent, in ISO 8601 with an offset, at most a year ahead. A time that has passed means now. Without it the broadcast is a draft; null makes it a draft again.
        "scheduleAt": NotRequired[Optional[Union[str, datetime]]],
        # How fast the broadcast is sent, with exactly one field. Without it, as fast as receivers accept the mail. It can be changed while the broadcast is sent or paused.
        "pace": NotRequired[Optional[BroadcastPaceInput]],
    },
)

RescheduleEmailBody = TypedDict(
    "RescheduleEmailBody",
    {
        # ISO 8601 with an offset, at most a year ahead. An email with a time in the past is sent now.
        "scheduledAt": Union[str, datetime],
    },
)

PreviewTemplateBody = TypedDict(
    "PreviewTemplateBody",
    {
        # Subject, which may contain {{variable}} placeholders.
        "subject": str,
        # `{{name}}` is escaped, `{{{name}}}` is not, and `{{name|there}}` has a fallback. A value in a URL is percent-encoded, unless it is the whole URL; `{{url name}}` and `{{raw name}}` say otherwise. `{{#if name}}…{{else}}…{{/if}}` shows one of two parts. At most 1 MiB.
        "html": str,
        # Generated from the HTML when absent. At most 1 MiB.
        "text": NotRequired[Optional[str]],
        # Up to 50 values for the placeholders; strings have at most 10 KiB.
        "variables": NotRequired[Mapping[str, Union[str, float, bool, None]]],
    },
)

ApproveBroadcastBody = TypedDict(
    "ApproveBroadcastBody",
    {
        # The `approval.hash` of what was read. Something else is not approved.
        "hash": str,
    },
)

DeclineBroadcastBody = TypedDict(
    "DeclineBroadcastBody",
    {
        # The `approval.hash` of what was read. Something else is not approved.
        "hash": str,
        # Why, for the author.
        "reason": NotRequired[Optional[str]],
    },
)

CreateAppPasswordBody = TypedDict(
    "CreateAppPasswordBody",
    {
        # Name of the mail program or the device that uses the password.
        "name": str,
        # Protocols in which the password is valid; all of them unless they are given.
        "protocols": NotRequired[Sequence[Union[Literal["imap", "pop3", "smtp", "sieve"], str]]],
        # Address of the member that the password of a shared mailbox is for.
        "member": NotRequired[str],
        # Addresses and CIDR blocks from which the password may be used; null allows any.
        "allowedIps": NotRequired[Optional[Sequence[str]]],
        # ISO 8601 with an offset; null: never. Sessions that are open at this time end.
        "expiresAt": NotRequired[Optional[Union[str, datetime]]],
    },
)

SetSimulatorReplyBody = TypedDict(
    "SetSimulatorReplyBody",
    {
        # Reply code: 2yz accepts the email, 4yz defers it, 5yz refuses it.
        "code": int,
        # Enhanced status code, such as `4.2.2`. Its first digit is that of the code.
        "enhancedCode": NotRequired[Optional[str]],
        # Text of the reply: one line of printable ASCII.
        "text": NotRequired[str],
        # `custom`: the reply is for `custom@simulator.HOSTNAME`, also with a label, as in `custom+ann`. `all`: for every recipient of test mail.
        "recipients": NotRequired[Union[Literal["custom", "all"], str]],
    },
)

CreateSuppressionBody = TypedDict(
    "CreateSuppressionBody",
    {
        # One address. Letters are compared without case.
        "email": str,
        # Reason; default manual. Of two reasons the stronger is kept: complaint, bounce, unsubscribe, manual.
        "reason": NotRequired[Union[Literal["manual", "bounce", "complaint", "unsubscribe"], str]],
    },
)

CreateInboundRouteBody = TypedDict(
    "CreateInboundRouteBody",
    {
        # Address at a verified domain, or `*@<domain>` for every address that no other route names. Letters are compared without case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.
        "address": str,
        # https URL to which messages are posted, without user name and fragment, and not on a mail port.
        "destination": str,
        # True when messages are forwarded; default true.
        "enabled": NotRequired[bool],
    },
)

UpdateInboundRouteBody = TypedDict(
    "UpdateInboundRouteBody",
    {
        # Address at a verified domain, or `*@<domain>` for every address that no other route names. Letters are compared without case. Without a domain, use an address at the sandbox domain `sandbox.<hostname>`, which all accounts share.
        "address": NotRequired[str],
        # https URL to which messages are posted, without user name and fragment, and not on a mail port.
        "destination": NotRequired[str],
        # True when messages are forwarded; default true.
        "enabled": NotRequired[bool],
    },
)

CreateMailboxDraftBody = TypedDict(
    "CreateMailboxDraftBody",
    {
        # Id of a message of the mailbox that the draft answers.
        "inReplyTo": NotRequired[str],
        # True when the answer also goes to the other recipients. By default, false.
        "replyAll": NotRequired[bool],
        # False when an answer does not quote the message. By default, true.
        "quote": NotRequired[bool],
        # Id of a message of the mailbox that the draft forwards.
        "forwards": NotRequired[str],
        # `inline`: its text and its files are those of the draft. `attachment`: the whole message is attached. By default, `inline`.
        "forwardAs": NotRequired[Union[Literal["inline", "attachment"], str]],
        # An address of the mailbox, with or without a name. By default, the one that was written to.
        "from": NotRequired[str],
        # By default, for an answer, its Reply-To or its author.
        "to": NotRequired[Sequence[str]],
        # By default, with `replyAll`, the other recipients.
        "cc": NotRequired[Sequence[str]],
        # Recipients that the others do not see.
        "bcc": NotRequired[Sequence[str]],
        # By default, that of the message with `Re:` or `Fwd:`.
        "subject": NotRequired[str],
        # Plain text. What is quoted follows it.
        "text": NotRequired[str],
        # HTML. What is quoted follows it.
        "html": NotRequired[str],
    },
)

EndMailboxSessionsBody = TypedDict(
    "EndMailboxSessionsBody",
    {
        # The session to end; without it, all sessions of the mailbox end.
        "session": NotRequired[str],
    },
)

CreateSuppressionsBody = TypedDict(
    "CreateSuppressionsBody",
    {
        "suppressions": Sequence[CreateSuppressionBody],
    },
)

DeleteSuppressionsBody = TypedDict(
    "DeleteSuppressionsBody",
    {
        "emails": Sequence[str],
    },
)

ExportSuppressionsBody = TypedDict(
    "ExportSuppressionsBody",
    {
        # Only suppressions with this reason.
        "reason": NotRequired[Union[Literal["manual", "bounce", "complaint", "unsubscribe"], str]],
    },
)

CreateMailboxImportBody = TypedDict(
    "CreateMailboxImportBody",
    {
        # Name of the IMAP server. Its certificate must be valid for this name.
        "host": str,
        # 993 for `tls` and 143 for `starttls` unless it is given. Below 1024 there is no other.
        "port": NotRequired[int],
        # `tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it before anything secret is sent.
        "security": NotRequired[Union[Literal["tls", "starttls"], str]],
        # Name with which the owner of the mail logs in.
        "user": str,
        # Password or app password. It is stored encrypted, deleted when the import ends, and never shown.
        "password": str,
    },
)

RotateWebhookSecretBody = TypedDict(
    "RotateWebhookSecretBody",
    {
        # Time for which posts are also signed with the previous secret, in seconds.
        "overlapSeconds": NotRequired[int],
    },
)

TestWebhookEndpointBody = TypedDict(
    "TestWebhookEndpointBody",
    {
        "type": NotRequired[Union[Literal["email.queued", "email.sent", "email.delivered", "email.bounced", "email.complained", "email.opened", "email.clicked", "email.delivery_delayed", "email.suppressed", "email.canceled", "email.held", "email.received", "domain.verified", "domain.failed", "contact.created", "contact.updated", "contact.deleted", "contact.unsubscribed", "suppression.added", "suppression.removed", "broadcast.sent", "broadcast.paused", "broadcast.failed", "approval.requested", "approval.approved", "approval.declined", "approval.expired", "approval.withdrawn"], str]],
    },
)

PreviewWaitingImportBody = TypedDict(
    "PreviewWaitingImportBody",
    {
        # Fields of columns, as a JSON object such as `{"Mail":"email","3":null}`. A key is a heading, or the number of a column counted from 1. A value is a field (`email`, `firstName`, `lastName`, `name`, `status`, `subscribed`, `unsubscribed`, `unsubscribedAt`, `pending`, `topics.<id>`, `properties.<key>`), or null to leave the column out. It wins over the known headings.
        "mapping": NotRequired[str],
        # Encoding of the file. Without it, the file is UTF-8 or UTF-16 with a byte order mark, and otherwise Windows-1252.
        "encoding": NotRequired[Union[Literal["utf-8", "utf-16le", "utf-16be", "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "windows-1257", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh", "shift_jis", "euc-jp", "euc-kr", "gb18030", "big5"], str]],
    },
)

UpdateMailboxMessageBody = TypedDict(
    "UpdateMailboxMessageBody",
    {
        "unread": NotRequired[bool],
        "flagged": NotRequired[bool],
        # Role (`trash`, `archive`, `junk`, `inbox`, …), id or name of the folder that gets the message.
        "folder": NotRequired[str],
    },
)

CreateWebhookEndpointBody = TypedDict(
    "CreateWebhookEndpointBody",
    {
        # https URL to which events are posted, without user name and fragment, and not on a mail port.
        "url": str,
        # Types of events that are posted. Repeated types are dropped.
        "events": Sequence[Union[Literal["email.queued", "email.sent", "email.delivered", "email.bounced", "email.complained", "email.opened", "email.clicked", "email.delivery_delayed", "email.suppressed", "email.canceled", "email.held", "email.received", "domain.verified", "domain.failed", "contact.created", "contact.updated", "contact.deleted", "contact.unsubscribed", "suppression.added", "suppression.removed", "broadcast.sent", "broadcast.paused", "broadcast.failed", "approval.requested", "approval.approved", "approval.declined", "approval.expired", "approval.withdrawn"], str]],
        # Text for your own use; null for none.
        "description": NotRequired[Optional[str]],
        # Domain whose events alone are posted: those of its emails, its broadcasts, the mail that arrives there, and its state. Null: the events of the whole tenant. An endpoint that is made with an API key of one domain has that domain. It cannot be changed.
        "domainId": NotRequired[Optional[str]],
        # Shape of the posts. `resend`: that of the webhooks of Resend, with the header fields `svix-id`, `svix-timestamp` and `svix-signature`, for programs that were written for them. It cannot be changed.
        "format": NotRequired[Union[Literal["default", "resend"], str]],
    },
)

UpdateWebhookEndpointBody = TypedDict(
    "UpdateWebhookEndpointBody",
    {
        # https URL to which events are posted, without user name and fragment, and not on a mail port.
        "url": NotRequired[str],
        # Types of events that are posted. Repeated types are dropped.
        "events": NotRequired[Sequence[Union[Literal["email.queued", "email.sent", "email.delivered", "email.bounced", "email.complained", "email.opened", "email.clicked", "email.delivery_delayed", "email.suppressed", "email.canceled", "email.held", "email.received", "domain.verified", "domain.failed", "contact.created", "contact.updated", "contact.deleted", "contact.unsubscribed", "suppression.added", "suppression.removed", "broadcast.sent", "broadcast.paused", "broadcast.failed", "approval.requested", "approval.approved", "approval.declined", "approval.expired", "approval.withdrawn"], str]]],
        # Text for your own use; null for none.
        "description": NotRequired[Optional[str]],
        # Enabling an endpoint forgets its failures so far.
        "status": NotRequired[Union[Literal["enabled", "disabled"], str]],
    },
)

ReplayWebhookDeliveriesBody = TypedDict(
    "ReplayWebhookDeliveriesBody",
    {
        # Time in ISO 8601 with an offset; only deliveries created then or later.
        "since": Union[str, datetime],
        # State of the deliveries; default both.
        "status": NotRequired[Union[Literal["failed", "skipped"], str]],
    },
)

ExportBroadcastRecipientsBody = TypedDict(
    "ExportBroadcastRecipientsBody",
    {
        # `waiting`: the copy is not made yet; `queued`: it is on its way, or retried; `failed`: it could not be made.
        "status": NotRequired[Union[Literal["waiting", "queued", "delivered", "bounced", "suppressed", "optedOut", "canceled", "failed"], str]],
    },
)

class PlanUsage(Object):
    month: str
    """Calendar month in UTC."""
    emails: Optional[int]
    """Number of emails that live keys sent in the month; null for a plan without a limit, which does not count them."""
    remaining: Optional[int]
    """Null: no limit."""
    resets_at: str
    """Time at which the next month begins."""
    stored_bytes: int
    """Size of the received mail that is stored, with 3 KB for the rows of each message, and of the reports about the domains."""

class Plan(Object):
    name: str
    monthly_emails: Optional[int]
    """Maximum number of emails per calendar month; null for no limit."""
    requests_per_second: Optional[int]
    """Null: no limit."""
    stored_megabytes: Optional[int]
    """Maximum size of the received mail and the reports that are stored, in units of 1,048,576 bytes; null for no limit."""
    usage: PlanUsage

class Topic(Object):
    id: str
    name: str
    description: Optional[str]
    default_opt_in: bool
    created_at: str
    updated_at: str

class EmailCalendar(Object):
    method: str
    content: str

class EmailAttachment(Object):
    filename: str
    content_type: str
    content_id: Optional[str]
    """Content id of an inline image, which the HTML refers to as `cid:…`."""
    disposition: str
    """How a mail program shows the file."""
    size: int
    """Size in bytes."""

class EmailApproval(Object):
    state: str
    """`pending`: a person has to decide. `expired`: nobody has decided in time. `withdrawn`: the mail was approved and has changed since, was canceled, or was sent by a key that needs no approval."""
    hash: str
    """Hash of the content, the audience and the time. A decision names it, so that nothing else is approved than what was read. It changes with the mail."""
    expires_at: str
    """Time until which a person can decide. Then the email is canceled, and the broadcast is a draft, unless it is scheduled for a time that needs no approval."""
    decided_at: Optional[str]
    """Time of the decision, or of the end without one."""
    reason: Optional[str]
    """Words of the one who has declined."""

class EmailRecipientWaiting(Object):
    reason: str
    until: Optional[str]
    """When it ends, ISO 8601, UTC; null while nobody knows."""

class EmailRecipient(Object):
    email: str
    """Address without a name."""
    type: str
    status: str
    """`held`: delivery is not attempted until an operator releases it or a person approves it; `holdReason` and `diagnostic` say why."""
    attempts: int
    """Number of delivery attempts."""
    last_event_at: str
    """Time of the latest event of the recipient. ISO 8601, UTC."""
    smtp_code: Optional[int]
    """Reply code of the receiving server, such as 250."""
    enhanced_code: Optional[str]
    """Enhanced status code of the reply (RFC 3463), such as 5.1.1."""
    diagnostic: Optional[str]
    """Text of the reply, or a description of the failure when there was no reply."""
    hold_reason: Optional[str]
    """Why the recipient is held, such as `approval`; null when it is not, or when an early version has held it, which kept no reasons."""
    class_: Optional[str]
    """What the last refusal means, such as `bad-mailbox`; null after a delivery and before the first attempt."""
    advice: Optional[str]
    """What you can do about the last refusal, in a sentence."""
    next_attempt_at: Optional[str]
    """Time of the next attempt; null when none is due: the recipient is final, held, or being sent to."""
    waiting: Optional[EmailRecipientWaiting]
    """What keeps a recipient whose time has come: `rest` (the receiving servers, or this mail there, get a pause after refusals), `rate` (their limit in a minute is reached), `warm_up` (the limit of the day of a sending address), or `hold`. Null when nothing does."""
    mx: Optional[str]
    """Name of the receiving server."""
    tls: Optional[str]
    """Version of TLS, such as TLSv1.3; null for a connection in plain text."""

class EmailRecipientCounts(Object):
    queued: int
    sent: int
    deferred: int
    held: int
    delivered: int
    bounced: int
    complained: int
    suppressed: int
    canceled: int

class EmailEvent(Object):
    id: str
    type: str
    created_at: str
    to: str
    """Recipient that the event is about."""

class Email(Object):
    id: str
    """Id of the email; starts with `em_`."""
    from_: str
    """Sender, as the request named it."""
    to: List[str]
    """Recipients, as the request named them."""
    subject: str
    """Subject as it is sent, with its variables filled in."""
    status: str
    """Status that follows from the states of all recipients."""
    created_at: str
    """Time at which the email was accepted. ISO 8601, UTC."""
    type: str
    last_event_at: str
    """Of the latest delivery event. ISO 8601, UTC."""
    mode: str
    """Mode of the API key that sent the email. Test mail is not delivered."""
    cc: List[str]
    bcc: List[str]
    reply_to: List[str]
    html: Optional[str]
    """As sent, variables filled in; null once the content was deleted, or when it is damaged."""
    text: Optional[str]
    """As sent; made from the HTML when none was given. Null once the content was deleted, or when it is damaged."""
    amp: Optional[str]
    """AMP for email as sent; null when there is none, or once the content was deleted."""
    calendar: Optional[EmailCalendar]
    """Invitation as sent; null when there is none, or once the content was deleted."""
    content_deleted_at: Optional[str]
    """When `html`, `text` and the attachments were deleted; null while they are kept."""
    headers: Dict[str, str]
    """Your own header fields."""
    attachments: List[EmailAttachment]
    tags: Dict[str, str]
    """Your own labels."""
    scheduled_at: Optional[str]
    """Time for which delivery was scheduled; null when the email was sent at once."""
    template_id: Optional[str]
    """Template that the email was made from."""
    topic_id: Optional[str]
    """Topic that the email belongs to."""
    broadcast_id: Optional[str]
    """Broadcast that the email is part of."""
    api_key_id: Optional[str]
    """API key that sent it; null for people, broadcasts and early versions."""
    missing_variables: List[str]
    """Placeholders that had neither a value nor a fallback and were rendered as empty text."""
    message_id: str
    """Value of the Message-ID header field."""
    approval: Optional[EmailApproval]
    """The approval that this waits for, or has waited for; null when it was sent or changed by no key that requires approval."""
    recipients: List[EmailRecipient]
    """Recipients of the email, each address once."""
    recipient_counts: EmailRecipientCounts
    """Number of recipients in each state."""
    events: List[EmailEvent]
    """Events of the email, oldest first."""

class ApiKey(Object):
    id: str
    name: str
    mode: str
    """Live keys send mail; test keys only simulate it."""
    permission: str
    """Requests that the key permits: all; only sending, retrieving and canceling emails; only reading."""
    hint: str
    """The 8 characters after the prefix, by which the key can be recognised."""
    domain_id: Optional[str]
    """The only domain that the key reaches: it sends from there, and sees and changes what belongs to it; null: any."""
    allowed_ips: Optional[List[str]]
    """Addresses and CIDR blocks from which the key may be used; null allows any."""
    created_at: str
    last_used_at: Optional[str]
    """To the minute; null: not yet."""
    expires_at: Optional[str]
    """ISO 8601 with an offset; null: never."""
    requires_approval: Optional[str]
    """Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type broadcast. `broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and mailboxes, and approves nothing. Null: none."""
    mailbox_id: Optional[str]
    """The only mailbox that the key reaches: its owner, or the operator, made it for the messages. Such a key cannot be changed here. Null: none."""

class DomainRecordAlternative(Object):
    type: str
    name: str
    """DNS name of the record."""
    value: str
    """Value to publish."""

class DomainRecord(Object):
    record: str
    type: str
    name: str
    """DNS name of the record."""
    value: str
    """Value to publish."""
    ttl: str
    required: bool
    """True when the domain cannot be verified without the record."""
    status: str
    last_checked_at: Optional[str]
    found: List[str]
    """Values that DNS returned at the last check."""
    error: Optional[str]
    """Description of what is wrong with the record, for people."""
    alternative: DomainRecordAlternative
    """Record that can be published instead."""
    note: str
    """Remark for people."""

class DomainOptionalRecord(Object):
    record: str
    purpose: str
    """Purpose of the record."""
    type: str
    name: str
    """DNS name of the record."""
    value: str
    """Value to publish."""
    priority: int
    """Preference of an MX record, and priority of an SRV record, lowest first."""
    weight: int
    """Weight of an SRV record."""
    port: int
    """Port of an SRV record, whose target is `value`."""
    ttl: str
    required: bool
    """True when the domain cannot be verified without the record."""
    status: str
    last_checked_at: Optional[str]
    found: List[str]
    """Values that DNS returned at the last check."""
    error: Optional[str]
    """Description of what is wrong with the record, for people."""
    alternative: DomainRecordAlternative
    """Record that can be published instead."""
    note: str
    """Description of the purpose, for people."""

class DomainDkimKey(Object):
    selector: str
    algorithm: str
    state: str
    """`waiting`: signs once its record is found in DNS. `signing`: signs new mail. `retired`: stays published for mail that it has signed."""
    since: Optional[str]
    """Time since which a key waits or is retired; null for one that signs."""

class Domain(Object):
    id: str
    name: str
    status: str
    product_type: str
    """Purpose of the domain."""
    region: str
    records: List[DomainRecord]
    optional_records: List[DomainOptionalRecord]
    """Optional records. They do not change the status of the domain."""
    ed25519: bool
    """True when mail is signed with Ed25519 too, once that key is found in DNS."""
    dkim_keys: List[DomainDkimKey]
    """DKIM keys of the domain, the RSA key that signs first."""
    tracking_subdomain: Optional[str]
    open_tracking: bool
    click_tracking: bool
    created_at: str
    """ISO 8601."""
    updated_at: str
    """ISO 8601."""
    verified_at: Optional[str]
    """Time at which all records were last found correct; null when they never were."""

class Import(Object):
    id: str
    kind: str
    """Kind of the rows. `recipients` and `links` are those of a broadcast, and are only exported."""
    audience_id: Optional[str]
    """Audience that the contacts are added to; null for suppressions."""
    status: str
    """`waiting`: an import that begins when it is started, and is given up after a day."""
    error: Optional[str]
    """Reason why the import failed. Rows that were imported before the failure stay."""
    size_bytes: int
    """Size of the file in bytes."""
    processed_bytes: int
    """Number of bytes that were read so far."""
    rows: int
    """Number of rows that were read so far, without the heading and blank lines. It is the sum of the next four."""
    created: int
    updated: int
    skipped: int
    """Number of rows that changed nothing."""
    failed: int
    """Number of rows that were refused; `/errors` says why."""
    created_at: str
    started_at: Optional[str]
    """Time at which the job began to run; null while it is queued."""
    finished_at: Optional[str]
    """Time at which the job ended; null before that. The job is then kept for 7 days, unless it is deleted earlier."""

class Export(Object):
    id: str
    kind: str
    """Kind of the rows. `recipients` and `links` are those of a broadcast, and are only exported."""
    audience_id: Optional[str]
    """Audience whose contacts are exported; null for other kinds."""
    status: str
    """`waiting`: an import that begins when it is started, and is given up after a day."""
    error: Optional[str]
    """Reason why the export failed."""
    size_bytes: Optional[int]
    """Size of the file in bytes; null until it exists."""
    rows: int
    """Number of rows in the file without the heading line; 0 until it exists."""
    created_at: str
    started_at: Optional[str]
    """Time at which the job began to run; null while it is queued."""
    finished_at: Optional[str]
    """Time at which the job ended; null before that. The job is then kept for 7 days, unless it is deleted earlier."""

class ProblemErrorIssue(Object):
    path: str
    message: str

class ProblemErrorDetails(Object):
    id: str
    """`already_exists`: the id of the existing record if it is yours."""
    scheduled_emails: int
    """`domain_in_use`: emails that are scheduled from the domain."""
    scheduled_broadcasts: int
    """`domain_in_use`, or `invalid_state` of an audience: broadcasts from the domain or to the audience that are scheduled, being sent or paused."""
    limit: int
    """`quota_exceeded`: maximum number of emails per month."""
    used: int
    """`quota_exceeded`: number of emails counted this month."""
    resets_at: str
    """`quota_exceeded`: time at which the next month begins."""

class ProblemError(Object):
    type: str
    """Error code for programs. Codes do not change."""
    message: str
    """Description of the error for people."""
    param: str
    """Field that the error is about, such as `to[1]`."""
    issues: List[ProblemErrorIssue]
    """Wrong fields and what is wrong with each, at most 20. The first is `param`."""
    details: ProblemErrorDetails
    """Details for programs; each code has its own fields."""
    request_id: str
    """Id of the request, as in the header X-Request-Id."""

class Problem(Object):
    """Body of every response that reports an error."""
    error: ProblemError

class ContactTopic(Object):
    id: str
    subscription: str

class ContactConsent(Object):
    requested_at: str
    source: str
    requested_ip: Optional[str]
    confirmed_at: Optional[str]
    confirmed_ip: Optional[str]
    confirmed_user_agent: Optional[str]
    confirmed_email: Optional[str]

class ContactConfirmation(Object):
    sent_at: Optional[str]
    """Time at which the latest confirmation mail was requested."""
    count: int
    """Number of confirmation mails to the address, of all audiences."""
    next_at: Optional[str]
    """From this time on, creating the contact again with `?upsert=true` sends another mail; null when there will be none, because the address got 3 of them, is suppressed or has left."""

class Contact(Object):
    id: str
    audience_id: str
    email: str
    first_name: Optional[str]
    last_name: Optional[str]
    unsubscribed: bool
    unsubscribed_at: Optional[str]
    properties: Dict[str, Union[str, float, bool]]
    topics: List[ContactTopic]
    """The topics for which a choice was made. For other topics, the default of the topic applies."""
    status: str
    """`pending` until the reader has confirmed the subscription; no marketing mail is sent before."""
    consent: Optional[ContactConsent]
    confirmation: Optional[ContactConfirmation]
    created_at: str
    updated_at: str

class SegmentFilterRule(Object):
    field: str
    """`email`, `firstName`, `lastName`, `unsubscribed`, `createdAt`, `delivered`, `opened`, `clicked`, `topics.<id>` or `properties.<key>`."""
    cmp: str
    value: Any
    """Value to compare with: a string, number or boolean; for `in` and `not_in` a list of up to 100 of them; for `before` and `after` a date such as 2026-01-31, whose day in UTC is neither before nor after it, or an ISO 8601 time with an offset; for `within_days` and `not_within_days` a number of days up to 3650; for `delivered`, `opened` and `clicked` otherwise the id of a broadcast; for `exists` and `not_exists` nothing."""
    op: str
    """`and`: all rules must hold; `or`: at least one must hold. Letters may have any case, as in `AND`."""
    rules: List[SegmentFilterRule]
    """Rules of a group. A group has `op` and `rules` instead of the fields of a rule."""

class SegmentFilter(Object):
    op: str
    """`and`: all rules must hold; `or`: at least one must hold. Letters may have any case, as in `AND`."""
    rules: List[SegmentFilterRule]

class Segment(Object):
    id: str
    name: str
    audience_id: str
    """The audience that the segment belongs to."""
    filter: SegmentFilter
    """A tree of at most 50 rules, 5 levels deep. Strings compare without case. Two values that are both numbers, or strings that are plain decimal numbers such as `12` or `-1.5`, compare as numbers. Nothing else is converted: `true` is not `"true"`. A property that is missing matches `ne`, `not_contains`, `not_in` and `not_exists`, and nothing else."""
    contact_count: int
    """Number of contacts now, unsubscribed ones included. Counted when the segment is retrieved."""
    created_at: str
    updated_at: str

class MetricsTotalsRates(Object):
    delivered: Optional[float]
    """`delivered` / `accepted`. Null when there were none."""
    bounced: Optional[float]
    """`bounced` / `accepted`. Null when there were none."""
    complained: Optional[float]
    """`complained` / `delivered`. Null when there were none."""
    opened: Optional[float]
    """`uniqueOpened` / `delivered`. Null when there were none."""
    clicked: Optional[float]
    """`uniqueClicked` / `delivered`. Null when there were none."""
    unsubscribed: Optional[float]
    """`unsubscribed` / `delivered`. Null when there were none."""

class MetricsTotals(Object):
    accepted: int
    """Recipients of accepted mail, without those that were suppressed at once."""
    delivered: int
    """Recipients whose server has accepted the mail."""
    bounced: int
    """Recipients that the mail could not be delivered to: the sum of the three below."""
    bounced_permanent: int
    """Bounces that suppress the address."""
    bounced_transient: int
    """Bounces after the retries have ended, and those of a full mailbox."""
    bounced_undetermined: int
    """Other bounces."""
    complained: int
    """Recipients who reported the mail as spam."""
    delayed: int
    """Recipients whose delivery was deferred at least once."""
    suppressed: int
    """Recipients that were not attempted, because they are suppressed or have opted out."""
    canceled: int
    """Recipients of mail that was canceled."""
    opened: int
    """Opens by people."""
    unique_opened: int
    """Emails that a person opened for the first time."""
    machine_opened: int
    """Opens by machines, such as content filters."""
    clicked: int
    """Clicks by people."""
    unique_clicked: int
    """Emails with a first click by a person."""
    machine_clicked: int
    """Clicks by machines."""
    unsubscribed: int
    """Contacts that were unsubscribed. They belong to no domain and no broadcast."""
    rates: MetricsTotalsRates
    """Each event counts when it happens, so a rate of a short time can exceed 1: mail that is accepted in one hour is delivered in the next."""

class MetricsGroup(Object):
    group: Optional[str]
    """The domain, type, broadcast or provider of `groupBy`; empty for mail without one, and null without `groupBy`."""
    accepted: int
    """Recipients of accepted mail, without those that were suppressed at once."""
    delivered: int
    """Recipients whose server has accepted the mail."""
    bounced: int
    """Recipients that the mail could not be delivered to: the sum of the three below."""
    bounced_permanent: int
    """Bounces that suppress the address."""
    bounced_transient: int
    """Bounces after the retries have ended, and those of a full mailbox."""
    bounced_undetermined: int
    """Other bounces."""
    complained: int
    """Recipients who reported the mail as spam."""
    delayed: int
    """Recipients whose delivery was deferred at least once."""
    suppressed: int
    """Recipients that were not attempted, because they are suppressed or have opted out."""
    canceled: int
    """Recipients of mail that was canceled."""
    opened: int
    """Opens by people."""
    unique_opened: int
    """Emails that a person opened for the first time."""
    machine_opened: int
    """Opens by machines, such as content filters."""
    clicked: int
    """Clicks by people."""
    unique_clicked: int
    """Emails with a first click by a person."""
    machine_clicked: int
    """Clicks by machines."""
    unsubscribed: int
    """Contacts that were unsubscribed. They belong to no domain and no broadcast."""
    rates: MetricsTotalsRates
    """Each event counts when it happens, so a rate of a short time can exceed 1: mail that is accepted in one hour is delivered in the next."""

class MetricsData(Object):
    start: str
    """Beginning of the hour or day."""
    group: Optional[str]
    """The domain, type, broadcast or provider of `groupBy`; empty for mail without one, and null without `groupBy`."""
    accepted: int
    """Recipients of accepted mail, without those that were suppressed at once."""
    delivered: int
    """Recipients whose server has accepted the mail."""
    bounced: int
    """Recipients that the mail could not be delivered to: the sum of the three below."""
    bounced_permanent: int
    """Bounces that suppress the address."""
    bounced_transient: int
    """Bounces after the retries have ended, and those of a full mailbox."""
    bounced_undetermined: int
    """Other bounces."""
    complained: int
    """Recipients who reported the mail as spam."""
    delayed: int
    """Recipients whose delivery was deferred at least once."""
    suppressed: int
    """Recipients that were not attempted, because they are suppressed or have opted out."""
    canceled: int
    """Recipients of mail that was canceled."""
    opened: int
    """Opens by people."""
    unique_opened: int
    """Emails that a person opened for the first time."""
    machine_opened: int
    """Opens by machines, such as content filters."""
    clicked: int
    """Clicks by people."""
    unique_clicked: int
    """Emails with a first click by a person."""
    machine_clicked: int
    """Clicks by machines."""
    unsubscribed: int
    """Contacts that were unsubscribed. They belong to no domain and no broadcast."""
    rates: MetricsTotalsRates
    """Each event counts when it happens, so a rate of a short time can exceed 1: mail that is accepted in one hour is delivered in the next."""

class Metrics(Object):
    from_: str
    """Beginning of the first hour or day."""
    to: str
    """End of the last hour or day."""
    interval: str
    totals: MetricsTotals
    """Sums of all rows."""
    groups: List[MetricsGroup]
    """Sums of each group; empty without `groupBy`."""
    data: List[MetricsData]
    """One row for each hour or day, and group, that has any events, oldest first."""

class MailboxVacation(Object):
    from_: Optional[str]
    """Time from which on senders get the reply, as ISO 8601; at once when it is missing or null."""
    until: Optional[str]
    """Time from which on nobody gets it any more; no end when it is missing or null."""
    subject: Optional[str]
    """Subject of the reply; that of the message, with "Auto: " in front, when it is missing or null."""
    text: str
    """Text of the reply."""

class MailboxRuleCondition(Object):
    field: str
    """`to` is To and Cc; `header` is the field named in `header`; `larger` and `smaller` compare the size with a number of bytes."""
    header: str
    operator: str
    """How the field is compared with the value: `contains` by default. Letters are compared without case."""
    value: str
    not_: bool
    """True when the condition holds where it otherwise would not."""

class MailboxRule(Object):
    name: str
    match: str
    """Whether all conditions must hold, which is the default, or any of them."""
    conditions: List[MailboxRuleCondition]
    """Without any, the rule is for all mail."""
    file_into: str
    """Folder for the message, which is created when it is missing."""
    mark_read: bool
    star: bool
    forward_to: str
    """Address that gets a copy."""
    discard: bool
    """Deletes the message."""
    stop: bool
    """True, which is the default, when no later rule looks at the message."""

class Mailbox(Object):
    id: str
    address: str
    """Address in lower case, with its domain in A-labels."""
    kind: str
    """A `shared` mailbox has no password: its members sign in to it with app passwords of their own, and may send from its addresses."""
    members: List[str]
    display_name: Optional[str]
    """Name of the person or the role that the mailbox is for."""
    password_login: bool
    """False when only app passwords open the mailbox."""
    password_recovery: bool
    """False when the owner of the mailbox may not set a forgotten password anew by a link to an address elsewhere."""
    time_zone: Optional[str]
    """IANA name of the zone in which My mailbox shows times to the owner; null for UTC."""
    aliases: List[str]
    """Its further addresses, in alphabetical order."""
    scram_login: bool
    """Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs is easier to attack than the hash, should the database be stolen. By default it is true for a password that the server makes, and false for another."""
    vacation: Optional[MailboxVacation]
    """Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name the address of the mailbox in To or Cc."""
    forward_to: List[str]
    """Addresses that all mail of the mailbox is forwarded to."""
    keep_copy: bool
    """False when mail that is forwarded is not stored. The rules are then not applied."""
    rules: List[MailboxRule]
    """Rules for new mail, in their order. They come before the script that the owner has made active by ManageSieve, which gets the mail that they leave in the inbox."""
    quota_bytes: int
    status: str
    """`suspended`: it takes no mail, so that senders try again later, and nobody may log in. `damaged`: the stored mail was found damaged; new mail waits until the operator has repaired it."""
    used_bytes: int
    """Size of the stored messages, some seconds ago."""
    message_count: int
    """Number of the stored messages, some seconds ago."""
    last_login_at: Optional[str]
    """Time of the last login, to the minute; null before the first."""
    disabled_capabilities: List[str]
    created_at: str
    updated_at: str

class TemplateVariable(Object):
    name: str
    fallback: str

class Template(Object):
    id: str
    name: str
    subject: str
    created_at: str
    updated_at: str
    html: str
    text: Optional[str]
    variables: List[TemplateVariable]
    """Variables that the subject, the HTML or the text contains."""

class BrandingLogo(Object):
    url: str
    """Address of the logo as PNG. Another logo has another address."""
    width: int
    height: int

class BrandingContrast(Object):
    light: float
    """Contrast of `textColor` on `color`."""
    dark: float
    """Contrast of the text on pages that are dark."""

class Branding(Object):
    name: Optional[str]
    color: Optional[str]
    text_color: Optional[str]
    dark_color: Optional[str]
    dark_text_color: Optional[str]
    logo: Optional[BrandingLogo]
    """Null without a logo."""
    contrast: Optional[BrandingContrast]
    """Contrast of the colours to their text, from 1 to 21 (WCAG 2.2). Null without colours."""
    updated_at: Optional[str]
    """Null when nothing has been set."""

class AudienceOptIn(Object):
    from_: str
    """Sender of the confirmation mail, at a verified domain."""
    reply_to: Optional[str]
    subject: Optional[str]
    template_id: Optional[str]
    """Template of the mail, with {{{confirm_url}}} for the link. Without one, a plain mail in the `language` is sent."""
    language: str
    """Default en."""

class Audience(Object):
    id: str
    name: str
    contact_count: int
    """Number of contacts, unsubscribed ones included."""
    opt_in: Optional[AudienceOptIn]
    """Double opt-in: the confirmation mail of pending contacts. Null when contacts cannot be pending."""
    created_at: str
    updated_at: str
    """Time of the last change of the audience itself. A change of its contacts does not count."""

class Approval(Object):
    id: str
    kind: str
    email_id: Optional[str]
    """The email that asks for approval."""
    broadcast_id: Optional[str]
    """The broadcast that asks for approval."""
    state: str
    """`pending`: a person has to decide. `expired`: nobody has decided in time. `withdrawn`: the mail was approved and has changed since, was canceled, or was sent by a key that needs no approval."""
    hash: str
    """Hash of the content, the audience and the time. A decision names it, so that nothing else is approved than what was read. It changes with the mail."""
    expires_at: str
    """Time until which a person can decide. Then the email is canceled, and the broadcast is a draft, unless it is scheduled for a time that needs no approval."""
    decided_at: Optional[str]
    """Time of the decision, or of the end without one."""
    reason: Optional[str]
    """Words of the one who has declined."""
    key_id: str
    """The API key whose mail waits."""
    from_: str
    """Sender of the mail."""
    subject: str
    """Subject of the mail."""
    send_at: Optional[str]
    """Time at which the mail is to be sent; null means as soon as it is approved."""
    decided_by: Optional[str]
    """Id of the key or of the person that has approved or declined."""
    created_at: str
    """Time at which approval was asked for first."""

class SentEmail(Object):
    id: str
    """Id of the email; starts with `em_`."""
    status: Literal["queued"]
    approval: EmailApproval
    """Present when the email waits for approval."""

class BatchItemError(Object):
    type: str
    """Error code, the same as in the response of POST /v1/emails."""
    message: str
    """Description of the error for people."""

class BatchItem(Object):
    id: Optional[str]
    """Id of the email; starts with `em_`. Null when the email was refused."""
    status: str
    approval: EmailApproval
    """Present when the email waits for approval."""
    error: BatchItemError
    """Reason why the email was refused."""

class SentBatch(Object):
    data: List[BatchItem]
    """One item for each email, in the same order."""

class BroadcastPace(Object):
    per_hour: int
    """Maximum number of copies in an hour."""
    per_day: int
    """Maximum number of copies in a day."""
    finish_by: str
    """Time by which all copies are made, spread evenly, in ISO 8601 with an offset."""

class BroadcastCounts(Object):
    recipients: int
    """Contacts that the broadcast is for: the sum of the next eight counts, at every moment."""
    waiting: int
    """Contacts whose copy is not made yet."""
    queued: int
    """Copies that are being delivered."""
    delivered: int
    """Copies that the receiving server accepted."""
    bounced: int
    """Copies that cannot be delivered."""
    suppressed: int
    """Contacts whose address is on the suppression list."""
    opted_out: int
    """Contacts who have unsubscribed, have opted out of the topic or have not opted in."""
    canceled: int
    """Contacts whose copy was canceled, or who were deleted meanwhile."""
    failed: int
    """Contacts whose copy could not be made."""
    sent: int
    """Copies that were attempted at least once."""
    complained: int
    """Copies that were reported as spam. They count as delivered too."""
    opened: int
    """How often copies were opened by people."""
    unique_opened: int
    """Copies that people have opened."""
    clicked: int
    """How often people followed links."""
    unique_clicked: int
    """Copies in which people have followed a link."""
    unsubscribed: int
    """Contacts who have unsubscribed by a link of this broadcast."""

class Broadcast(Object):
    id: str
    status: str
    audience_id: str
    """Id of the audience; for a segment, the audience that it belongs to."""
    segment_id: Optional[str]
    from_: str
    subject: str
    reply_to: Optional[str]
    topic_id: Optional[str]
    template_id: Optional[str]
    schedule_at: Optional[str]
    """Time at which the broadcast is sent, or was to be sent."""
    pace: Optional[BroadcastPace]
    """How fast the broadcast is sent; null means without a limit."""
    paused_reason: Optional[str]
    """Why the broadcast is paused; null unless `status` is paused. `bounces` and `complaints`: too many copies bounced or were reported as spam. `quota`: the emails of the month are used up. `late`: it was found more than an hour after its time. `domain`: the domain of the sender is no longer verified."""
    failure: Optional[str]
    """Why the broadcast could not start; null unless `status` is failed."""
    approval: Optional[EmailApproval]
    """The approval that this waits for, or has waited for; null when it was sent or changed by no key that requires approval."""
    started_at: Optional[str]
    """Time at which sending began."""
    sent_at: Optional[str]
    """Time at which every copy was tried; null unless `status` is sent."""
    counts: BroadcastCounts
    """What has become of the contacts and of their copies. All are zero before the start."""
    created_at: str
    updated_at: str
    html: Optional[str]
    text: Optional[str]

class EmailCheckHeader(Object):
    name: str
    value: str

class EmailCheckLink(Object):
    url: str
    """Address of the link, as it is written."""
    text: str
    """Text of the link, or of its image."""
    line: int
    """Line of the HTML, from 1."""

class EmailCheck(Object):
    size_bytes: int
    """Size of the whole message as it is sent."""
    html_bytes: int
    """Size of the HTML before tracked links are put into it."""
    text_bytes: int
    """Size of the text."""
    headers: List[EmailCheckHeader]
    """All header fields in their order, as they are sent, with their encoded words decoded."""
    findings: List[CheckFinding]
    """What was found, errors first."""
    links: List[EmailCheckLink]
    """The first 100 links of the HTML."""
    links_omitted: int
    """Number of further links."""

class Suppression(Object):
    id: str
    email: str
    """Address in lower case."""
    reason: str
    """Reason why no mail is sent to the address."""
    source_email_id: Optional[str]
    """Email whose bounce or complaint suppressed the address; null when it was added otherwise."""
    diagnostic: Optional[str]
    """Response of the receiving server."""
    created_at: str

class ClickedLink(Object):
    number: int
    """Position among the tracked links of the HTML, from 0."""
    url: str
    """The link as it was written, with its placeholders."""
    clicks: int
    """Clicks by people."""
    unique_clicks: int
    """Contacts who clicked."""
    machine_clicks: int
    """Requests by security scanners and other programs."""

class AppPassword(Object):
    id: str
    mailbox_id: str
    member_id: Optional[str]
    """The mailbox of the member that has the password; null for a personal mailbox."""
    name: str
    """Name of the mail program or the device that uses the password."""
    protocols: List[str]
    hint: str
    """The first 8 characters, by which the password can be recognised."""
    allowed_ips: Optional[List[str]]
    """Addresses and CIDR blocks from which the password may be used; null allows any."""
    created_at: str
    last_used_at: Optional[str]
    """Time of the last login, to the minute; null before the first."""
    expires_at: Optional[str]
    """ISO 8601 with an offset; null: never. Sessions that are open at this time end."""

class ContactCount(Object):
    contact_count: int
    """Number of contacts now, unsubscribed ones included."""

class EmailSummary(Object):
    id: str
    """Id of the email; starts with `em_`."""
    from_: str
    """Sender, as the request named it."""
    to: List[str]
    """Recipients, as the request named them."""
    subject: str
    """Subject as it is sent, with its variables filled in."""
    status: str
    """Status that follows from the states of all recipients."""
    created_at: str
    """Time at which the email was accepted. ISO 8601, UTC."""

class CheckFindingPlace(Object):
    line: Optional[int]
    """Line of the HTML, from 1. Null for the subject, other header fields and the text."""
    text: str
    """What stands there."""

class CheckFinding(Object):
    code: str
    """What was found, for programs. There will be more codes."""
    severity: str
    """`error`: readers or receivers get something broken. `warning`: some of them do, or filters may take the email for spam. `notice`: it can be better."""
    message: str
    """What was found, for people."""
    source: Optional[str]
    """Page that explains it."""
    count: int
    """How often it was found."""
    places: List[CheckFindingPlace]
    """The first five places."""

class MailSettingsService(Object):
    protocol: str
    security: str
    """`tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it."""
    port: int

class MailSettings(Object):
    username: str
    """User name for all services, which is the address of the mailbox."""
    host: str
    """Host of all services."""
    services: List[MailSettingsService]
    """Those that a mail program should prefer come first."""
    profile_url: str
    """Link to the profile by which Apple devices set up the account."""

class InboundRoute(Object):
    id: str
    address: str
    """Address in lower case, with its domain in A-labels."""
    destination: str
    enabled: bool
    disabled_reason: Optional[str]
    """`failures`: no post had succeeded for days; `gone`: the receiver answered 410."""
    disabled_at: Optional[str]
    failing_since: Optional[str]
    """Time since which no post has succeeded; null while posts succeed."""
    suspended_until: Optional[str]
    """Time before which nothing is posted, because the last post failed; null while posts succeed."""
    waiting_since: Optional[str]
    """Time since which the oldest event waits to be posted; null when none waits."""
    created_at: str
    updated_at: str

class DomainReportLeftOut(Object):
    records: int
    """Records about DMARC, or policies about TLS."""
    messages: int
    """Messages, or connections, in those of them that say it."""

class DomainReportDmarcRecord(Object):
    source_ip: str
    """Address that the messages came from."""
    messages: int
    disposition: str
    dkim: bool
    """True when DKIM passed for an aligned domain."""
    spf: bool
    """True when SPF passed for an aligned domain."""
    header_from: str
    """Domain of the author."""

class DomainReportDmarc(Object):
    domain: str
    """Domain whose policy was applied."""
    policy: str
    records: List[DomainReportDmarcRecord]
    """The records with the most messages, at most 50."""
    other_messages: int
    """Number of messages in records that are not listed."""

class DomainReportTlsPolicyFailure(Object):
    result_type: str
    """Such as `certificate-expired` (RFC 8460 section 4.3)."""
    sessions: int
    receiving_host: Optional[str]

class DomainReportTlsPolicy(Object):
    domain: str
    policy_type: str
    succeeded: int
    failed: int
    failures: List[DomainReportTlsPolicyFailure]

class DomainReportTls(Object):
    policies: List[DomainReportTlsPolicy]

class DomainReport(Object):
    id: str
    type: str
    reporter: str
    """Domain that sent the report, as DMARC or DKIM proves."""
    organization: str
    """Name that the reporter gives itself."""
    report_id: str
    """Id that the reporter gave the report."""
    period_start: str
    """ISO 8601."""
    period_end: str
    """ISO 8601."""
    passed: int
    """Messages that passed DMARC, or connections with TLS."""
    failed: int
    """Messages that failed DMARC, or connections whose TLS failed."""
    left_out: DomainReportLeftOut
    """The part of the whole report that could not be read, and is not counted above."""
    dmarc: Optional[DomainReportDmarc]
    """Details of a report about DMARC."""
    tls: Optional[DomainReportTls]
    """Details of a report about TLS."""
    created_at: str
    """Time at which the report arrived."""

class CreatedApiKey(Object):
    id: str
    name: str
    mode: str
    """Live keys send mail; test keys only simulate it."""
    permission: str
    """Requests that the key permits: all; only sending, retrieving and canceling emails; only reading."""
    hint: str
    """The 8 characters after the prefix, by which the key can be recognised."""
    domain_id: Optional[str]
    """The only domain that the key reaches: it sends from there, and sees and changes what belongs to it; null: any."""
    allowed_ips: Optional[List[str]]
    """Addresses and CIDR blocks from which the key may be used; null allows any."""
    created_at: str
    last_used_at: Optional[str]
    """To the minute; null: not yet."""
    expires_at: Optional[str]
    """ISO 8601 with an offset; null: never."""
    requires_approval: Optional[str]
    """Mail of the key that waits until a person approves it. `broadcasts`: broadcasts, and emails of the type broadcast. `broadcasts_and_emails`: all of its mail, also by SMTP. Such a key manages no keys and mailboxes, and approves nothing. Null: none."""
    mailbox_id: Optional[str]
    """The only mailbox that the key reaches: its owner, or the operator, made it for the messages. Such a key cannot be changed here. Null: none."""
    token: str
    """The key itself. It is not shown again."""

class LoggedRequest(Object):
    id: str
    """Id of the request, as in the header X-Request-Id; starts with `req_`."""
    created_at: str
    """Time at which the request arrived. ISO 8601, UTC."""
    method: str
    """Method of the request."""
    route: Optional[str]
    """Path of the operation, such as `/v1/emails/{id}`. Null when no operation has the path."""
    path: str
    """Path of the request without its query."""
    status: int
    """Status of the answer."""
    error_type: Optional[str]
    """Code of the error. Null when there was none."""
    key_id: str
    """Id of the API key."""
    duration_ms: int
    """Time until the answer was sent, in milliseconds."""
    request_bytes: Optional[int]
    """Size of the body, as its header says. Null when it does not."""
    response_bytes: Optional[int]
    """Size of the answer. Null when it was not known before it was sent."""
    client_address: str
    """IP address of the client."""

class EmailAttemptsAttempt(Object):
    at: str
    """Time at which the attempt ended. ISO 8601, UTC."""
    to: str
    """Recipient of the attempt."""
    outcome: str
    """`recovered`: the daemon ended during the attempt, and the recipient was queued again."""
    phase: str
    """Step at which the attempt ended, such as `dns`, `connect` or `rcpt`."""
    mx: Optional[str]
    """Name of the server."""
    address: Optional[str]
    """IP address of the server."""
    tls: Optional[str]
    """Version of TLS; null for a connection in plain text, or none."""
    duration_ms: int
    """Time that the attempt took, in milliseconds."""
    reply: Optional[str]
    """Reply of the server, or a description of the failure when there was none."""

class EmailAttemptsConversationLine(Object):
    ms: int
    """Milliseconds since the connection was begun."""
    direction: str
    """`sent` to the server, `received` from it, or a `note` about the connection."""
    text: str

class EmailAttemptsConversation(Object):
    at: str
    """The `at` of the attempts that the conversation explains. ISO 8601, UTC."""
    site: str
    """Server or group of servers that the email was sent to."""
    lines: List[EmailAttemptsConversationLine]

class EmailAttempts(Object):
    attempts: List[EmailAttemptsAttempt]
    """The newest 1,000 attempts, the oldest of them first. They are kept for as long as events."""
    conversations: List[EmailAttemptsConversation]
    """SMTP sessions of attempts that did not deliver: commands and replies without content, for seven days."""

class BroadcastTestDataError(Object):
    type: str
    message: str

class BroadcastTestData(Object):
    to: str
    """Address, as the request named it."""
    id: Optional[str]
    """Id of the email; null when it was refused."""
    status: str
    error: BroadcastTestDataError
    """Why the email was refused. Absent when it was accepted."""

class BroadcastTest(Object):
    data: List[BroadcastTestData]
    """One item for each address."""

class WebhookReplay(Object):
    count: int
    """Number of deliveries that are posted again; 1000000 means that many or more."""

class EndedSessions(Object):
    ended: int
    """Number of the sessions that were ended; 0 when the session had ended already."""

class MailboxImport(Object):
    id: str
    mailbox_id: str
    host: str
    """Name of the IMAP server. Its certificate must be valid for this name."""
    port: int
    security: str
    """`tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it before anything secret is sent."""
    user: str
    """Name with which the owner of the mail logs in."""
    status: str
    reason: Optional[str]
    """Why the import failed: the mailbox is full, or was suspended for a week; the server refuses the login; nobody may connect to the server, or its certificate is not valid; it could not be reached for hours. Messages that were imported stay."""
    error: Optional[str]
    """Why the import failed, or, while it is running, why it waits for another attempt."""
    folders: int
    """Number of folders that are imported."""
    folders_done: int
    """Number of folders that are done."""
    messages: int
    """Number of messages in the folders that were opened so far."""
    imported: int
    """Number of messages that this import has added."""
    imported_bytes: int
    """Size of the messages that this import has added."""
    known: int
    """Number of messages that were imported before, also those that were deleted since."""
    failed: int
    """Number of messages that could not be imported; `/errors` says why."""
    created_at: str
    started_at: Optional[str]
    """Time at which the import began to run; null while it is queued."""
    finished_at: Optional[str]
    """Time at which the import ended; null before that. It is then kept for 30 days, unless it is deleted earlier."""

class MailboxFolder(Object):
    id: str
    """It stays when the folder is renamed (MAILBOXID of IMAP)."""
    name: str
    """Name, with `/` between the levels."""
    role: Optional[str]
    """What the folder is for; null for a folder that its owner made."""
    message_count: int
    unread_count: int

class MailboxThread(Object):
    id: str
    """Id of its first message. The id of every other message of the thread leads to it too."""
    subject: str
    """Subject of the first message."""
    participants: List[str]
    """Authors of the first and the 20 newest messages as `Name <address>` or `address`."""
    message_count: int
    unread_count: int
    last_at: str
    """Time of arrival of the newest message."""
    preview: str
    """First words of the newest message."""
    messages: List[MailboxMessageSummary]
    """The messages, the oldest first; of more than 100, the newest ones."""

class SimulatorReplyReply(Object):
    code: int
    """Reply code: 2yz accepts the email, 4yz defers it, 5yz refuses it."""
    enhanced_code: Optional[str]
    """Enhanced status code."""
    text: str
    """Text of the reply."""
    recipients: str
    """`custom`: the reply is for `custom@simulator.HOSTNAME`, also with a label, as in `custom+ann`. `all`: for every recipient of test mail."""
    updated_at: str
    """Time at which the reply was set. ISO 8601, UTC."""

class SimulatorReply(Object):
    reply: Optional[SimulatorReplyReply]
    """The chosen reply. Null while the simulator answers as the addresses say."""

class CreatedMailbox(Object):
    id: str
    address: str
    """Address in lower case, with its domain in A-labels."""
    kind: str
    """A `shared` mailbox has no password: its members sign in to it with app passwords of their own, and may send from its addresses."""
    members: List[str]
    display_name: Optional[str]
    """Name of the person or the role that the mailbox is for."""
    password_login: bool
    """False when only app passwords open the mailbox."""
    password_recovery: bool
    """False when the owner of the mailbox may not set a forgotten password anew by a link to an address elsewhere."""
    time_zone: Optional[str]
    """IANA name of the zone in which My mailbox shows times to the owner; null for UTC."""
    aliases: List[str]
    """Its further addresses, in alphabetical order."""
    scram_login: bool
    """Mail programs may log in with the password of the mailbox by SCRAM-SHA-256. The verifier that this needs is easier to attack than the hash, should the database be stolen. By default it is true for a password that the server makes, and false for another."""
    vacation: Optional[MailboxVacation]
    """Automatic reply, which a sender gets once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name the address of the mailbox in To or Cc."""
    forward_to: List[str]
    """Addresses that all mail of the mailbox is forwarded to."""
    keep_copy: bool
    """False when mail that is forwarded is not stored. The rules are then not applied."""
    rules: List[MailboxRule]
    """Rules for new mail, in their order. They come before the script that the owner has made active by ManageSieve, which gets the mail that they leave in the inbox."""
    quota_bytes: int
    status: str
    """`suspended`: it takes no mail, so that senders try again later, and nobody may log in. `damaged`: the stored mail was found damaged; new mail waits until the operator has repaired it."""
    used_bytes: int
    """Size of the stored messages, some seconds ago."""
    message_count: int
    """Number of the stored messages, some seconds ago."""
    last_login_at: Optional[str]
    """Time of the last login, to the minute; null before the first."""
    disabled_capabilities: List[str]
    created_at: str
    updated_at: str
    password: Optional[str]
    """The password that the server made; null when the request had one, and for a shared mailbox."""

class InboundMessageAttachment(Object):
    id: str
    """Number of the attachment in the message, from 1."""
    filename: str
    content_type: str
    size: int
    """Size in bytes."""
    content_id: Optional[str]
    """Content-ID without angle brackets, by which the HTML names it."""
    disposition: str

class InboundMessageEnvelope(Object):
    from_: str
    """Sender of the envelope; empty for bounces."""
    to: List[str]
    remote_ip: str
    helo: Optional[str]
    """Name that the sending server gave."""

class InboundMessageAuth(Object):
    spf: str
    dkim: str
    dmarc: str
    dkim_domains: List[str]
    """Domains with a valid signature."""

class InboundMessageSpamReason(Object):
    name: str
    points: float

class InboundMessageSpam(Object):
    score: Optional[float]
    """How much the message looks like spam; null when it was not judged."""
    flagged: bool
    """True when the message is probably spam."""
    reasons: List[InboundMessageSpamReason]
    """What the score consists of."""

class InboundMessage(Object):
    id: str
    from_: str
    """The author as `Name <address>`."""
    to: List[str]
    cc: List[str]
    reply_to: List[str]
    subject: str
    text: str
    """Empty when the message has no text."""
    html: str
    """Empty when the message has no HTML."""
    reply_text: str
    """The text without the message that it quotes."""
    attachments: List[InboundMessageAttachment]
    message_id: Optional[str]
    """Message-ID with its angle brackets."""
    in_reply_to: Optional[str]
    """Message-ID of the answered message."""
    date: Optional[str]
    """Date of the header."""
    raw_headers: List[EmailCheckHeader]
    """All header fields in their order, those that were added here first."""
    envelope: InboundMessageEnvelope
    auth: InboundMessageAuth
    """Results of authentication (RFC 8601)."""
    spam: InboundMessageSpam
    truncated: bool
    """True when the message could not be parsed, or its text is cut."""
    auto_submitted: bool
    """True when a program sent the message by itself."""
    email_id: Optional[str]
    """Your email that the message answers; null when it answers none."""
    size: int
    """Size of the message in bytes."""
    content_deleted_at: Optional[str]
    """Time at which the content was deleted; only the summary is left then."""
    deliveries: List[InboundDelivery]
    """The posts to routes, one for each route."""
    created_at: str

class MailboxFolders(Object):
    data: List[MailboxFolder]
    """All folders by name."""

class MailboxMessageFolder(Object):
    id: str
    name: str
    """Name, with `/` between the levels."""
    role: Optional[str]
    """What the folder is for; null for a folder that its owner made."""

class MailboxMessage(Object):
    id: str
    """It stays when the message is moved (EMAILID of IMAP)."""
    folder: MailboxMessageFolder
    from_: List[str]
    """Authors as `Name <address>` or `address`."""
    to: List[str]
    cc: List[str]
    subject: str
    preview: str
    """First words of the text."""
    date: Optional[str]
    """Date of the header; null without a valid one."""
    message_id: Optional[str]
    """Message-ID with its angle brackets."""
    received_at: str
    """Time of arrival."""
    size: int
    """Size of the message in bytes."""
    unread: bool
    flagged: bool
    answered: bool
    draft: bool
    keywords: List[str]
    """Further flags that programs have set."""
    reply_to: List[str]
    in_reply_to: Optional[str]
    """Message-ID of the answered message."""
    text: str
    """Empty when the message has no text. Strangers wrote it: it is data."""
    html: str
    """Empty when the message has no HTML. It is not sanitised."""
    reply_text: str
    """The text without the message that it quotes."""
    truncated: bool
    """True when the message could not be parsed, or a text is longer than 1 MiB and its rest is cut. `/raw` has all of it."""
    attachments: List[InboundMessageAttachment]
    raw_headers: List[EmailCheckHeader]
    """All header fields in their order."""

class TemplateSummary(Object):
    id: str
    name: str
    subject: str
    created_at: str
    updated_at: str

class TemplateVersion(Object):
    id: str
    subject: str
    key_id: Optional[str]
    """Id of the API key that made the content; null when a person did, or when it is not known."""
    person_id: Optional[str]
    """Id of the person that made the content in the dashboard; null otherwise."""
    created_at: str
    """Time at which the template got the content."""
    html: str
    text: Optional[str]

class TemplatePreview(Object):
    subject: str
    html: str
    text: Optional[str]
    """Generated from the HTML when the template has none. Null when the HTML has no words."""
    variables: List[TemplateVariable]
    """Variables that the subject, the HTML or the text contains."""
    missing_variables: List[str]
    """Variables that had neither a value nor a fallback, and are shown as nothing."""

class BrandingPreview(Object):
    html: str
    """The page, with its styles and the logo in itself."""
    contrast: Optional[BrandingContrast]
    """Contrast of the colours to their text, from 1 to 21 (WCAG 2.2). Null without colours."""

class WebhookEndpoint(Object):
    id: str
    url: str
    events: List[str]
    status: str
    disabled_reason: Optional[str]
    """`failures`: no post had succeeded for days; `gone`: the receiver answered 410."""
    disabled_at: Optional[str]
    failing_since: Optional[str]
    """Time since which no post has succeeded; null while posts succeed."""
    suspended_until: Optional[str]
    """Time before which nothing is posted, because the last post failed. The first pause is a quarter of a second; it doubles with each failure, up to a minute. Null while posts succeed."""
    waiting_since: Optional[str]
    """Time since which the oldest event waits to be posted; null when none waits."""
    previous_secret_expires_at: Optional[str]
    """Time until which posts are also signed with the previous secret; null when they are not."""
    description: Optional[str]
    domain_id: Optional[str]
    """Domain whose events alone are posted: those of its emails, its broadcasts, the mail that arrives there, and its state. Null: the events of the whole tenant. An endpoint that is made with an API key of one domain has that domain. It cannot be changed."""
    format: str
    """Shape of the posts. `resend`: that of the webhooks of Resend, with the header fields `svix-id`, `svix-timestamp` and `svix-signature`, for programs that were written for them. It cannot be changed."""
    created_at: str
    updated_at: str

class WebhookDelivery(Object):
    id: str
    event_id: str
    event_type: str
    status: str
    """`skipped`: the delivery was not posted, or not posted again, because the endpoint is disabled."""
    attempts: int
    """Number of posts so far, a running one included. A replay begins at 0."""
    response_status: Optional[int]
    """HTTP status of the last answer; null: there was none."""
    response_time_ms: Optional[int]
    """How long that answer took."""
    error: Optional[str]
    """Description of the error."""
    response_body: Optional[str]
    """Beginning of the last response, at most 4 KB, read as UTF-8."""
    next_attempt_at: Optional[str]
    """Time of the next post; null when there is none, and while a post is running."""
    created_at: str

class MailboxSessionsDataAppPassword(Object):
    id: str
    name: str

class MailboxSessionsData(Object):
    id: str
    """Identifies the session until it ends."""
    protocol: str
    address: str
    """IP address of the mail program."""
    client: Optional[str]
    """Name and version that the mail program has given by the command ID of IMAP, which nobody verifies; null when it has given none."""
    app_password: Optional[MailboxSessionsDataAppPassword]
    """The app password of the login; null for the password of the mailbox."""
    started_at: str
    """Time of the login."""

class MailboxSessions(Object):
    data: List[MailboxSessionsData]
    """The sessions, the newest first, at most 200."""

class RecoveryAddress(Object):
    address: Optional[str]
    """The address; null when none is set."""
    confirmed_at: Optional[str]
    """Time at which its reader has confirmed it; null before, when it gets no links for a new password."""
    created_at: Optional[str]
    """Time at which the owner of the mailbox has set it; null when none is set."""

class InboundDelivery(Object):
    id: str
    """The `X-Service-Delivery` of its posts."""
    route_id: str
    status: str
    attempts: int
    """Number of posts so far, a running one included. A replay begins at 0."""
    response_status: Optional[int]
    """HTTP status of the last answer; null: there was none."""
    response_time_ms: Optional[int]
    """How long that answer took."""
    error: Optional[str]
    """Description of the error."""
    response_body: Optional[str]
    """Beginning of the last response, at most 4 KB, read as UTF-8."""
    next_attempt_at: Optional[str]
    """Time of the next post; null when there is none, and while a post is running."""
    created_at: str

class BroadcastPreview(Object):
    contact_id: Optional[str]
    """The contact; null when the audience has none."""
    email: Optional[str]
    """Address of the contact."""
    subject: str
    html: str
    text: str
    """The text part, which is generated from the HTML when there is none."""

class BroadcastSummary(Object):
    id: str
    status: str
    audience_id: str
    """Id of the audience; for a segment, the audience that it belongs to."""
    segment_id: Optional[str]
    from_: str
    subject: str
    reply_to: Optional[str]
    topic_id: Optional[str]
    template_id: Optional[str]
    schedule_at: Optional[str]
    """Time at which the broadcast is sent, or was to be sent."""
    pace: Optional[BroadcastPace]
    """How fast the broadcast is sent; null means without a limit."""
    paused_reason: Optional[str]
    """Why the broadcast is paused; null unless `status` is paused. `bounces` and `complaints`: too many copies bounced or were reported as spam. `quota`: the emails of the month are used up. `late`: it was found more than an hour after its time. `domain`: the domain of the sender is no longer verified."""
    failure: Optional[str]
    """Why the broadcast could not start; null unless `status` is failed."""
    approval: Optional[EmailApproval]
    """The approval that this waits for, or has waited for; null when it was sent or changed by no key that requires approval."""
    started_at: Optional[str]
    """Time at which sending began."""
    sent_at: Optional[str]
    """Time at which every copy was tried; null unless `status` is sent."""
    counts: BroadcastCounts
    """What has become of the contacts and of their copies. All are zero before the start."""
    created_at: str
    updated_at: str

class DomainReportSumsData(Object):
    day: str
    """Day in UTC on which the reports begin, such as `2026-03-01`."""
    type: str
    reports: int
    """Number of reports."""
    passed: float
    """Messages that passed DMARC, or connections with TLS."""
    failed: float
    """Messages that failed DMARC, or connections whose TLS failed."""

class DomainReportSums(Object):
    data: List[DomainReportSumsData]
    """The oldest day first."""

class BroadcastProvider(Object):
    provider: str
    """Follows from the domain of the address alone, as in `GET /v1/metrics`."""
    recipients: int
    """Contacts with such an address: the sum of the next eight counts."""
    waiting: int
    queued: int
    delivered: int
    bounced: int
    suppressed: int
    opted_out: int
    canceled: int
    failed: int
    opened: int
    """Copies that people have opened, or in which they have followed a link."""
    clicked: int
    """Copies in which people have followed a link."""

class WebhookTestResult(Object):
    delivered: bool
    """True when the receiver answered 2xx."""
    response_status: Optional[int]
    """HTTP status of the last answer; null: there was none."""
    response_time_ms: Optional[int]
    """How long that answer took."""
    error: Optional[str]
    """Description of the error."""

class BroadcastPreflightExcluded(Object):
    suppressed: int
    """Contacts whose address is on the suppression list."""
    unsubscribed: int
    """Contacts who have unsubscribed from all marketing mail."""
    opted_out: int
    """Contacts who have opted out of the topic."""
    not_opted_in: int
    """Contacts without a choice, when the topic is off by default."""

class BroadcastPreflightSample(Object):
    contact_id: Optional[str]
    """The newest contact that gets the broadcast. Null when nobody does: fallbacks fill in the merge tags."""
    subject: str
    """Subject for this contact."""
    size_bytes: int
    """Size of the whole message as it leaves, with its header, its signature and its encoding."""
    html_bytes: int
    """Size of the HTML for this contact."""

class BroadcastPreflightLink(Object):
    url: str
    """Address as it is written, with its placeholders."""
    is_tracked: bool
    """True when clicks on the link are counted."""

class BroadcastPreflightWarning(Object):
    code: str
    """Name of the warning, for programs."""
    message: str
    """What may go wrong, and what helps."""

class BroadcastPreflight(Object):
    contacts: int
    """Contacts of the audience or the segment."""
    recipients: int
    """Contacts that get the broadcast if it is sent now."""
    excluded: BroadcastPreflightExcluded
    """Who does not get the broadcast, each contact under the first reason that applies."""
    sample: BroadcastPreflightSample
    """The broadcast as one contact would get it."""
    links: List[BroadcastPreflightLink]
    """The web links of the HTML in their order, without the link to unsubscribe. At most 1,000."""
    warnings: List[BroadcastPreflightWarning]
    """What may go wrong. The broadcast can be sent nevertheless."""

class BroadcastRecipient(Object):
    contact_id: str
    email: str
    """Address of the contact when the copy was made."""
    status: str
    """`waiting`: the copy is not made yet; `queued`: it is on its way, or retried; `failed`: it could not be made."""
    email_id: Optional[str]
    """The copy, for `GET /v1/emails/{id}`; null when there is none."""
    reason: Optional[str]
    """Why there is no copy, or why it was not delivered."""
    changed_at: str
    """Time of the last change of `status`."""
    opened_at: Optional[str]
    """Time of the first open by a person, who loaded the images."""
    clicked_at: Optional[str]
    """Time of the first click by a person."""

class WebhookReplayCount(Object):
    count: int
    """Number of deliveries; `maximum` means that many or more."""

class CreatedAppPassword(Object):
    id: str
    mailbox_id: str
    member_id: Optional[str]
    """The mailbox of the member that has the password; null for a personal mailbox."""
    name: str
    """Name of the mail program or the device that uses the password."""
    protocols: List[str]
    hint: str
    """The first 8 characters, by which the password can be recognised."""
    allowed_ips: Optional[List[str]]
    """Addresses and CIDR blocks from which the password may be used; null allows any."""
    created_at: str
    last_used_at: Optional[str]
    """Time of the last login, to the minute; null before the first."""
    expires_at: Optional[str]
    """ISO 8601 with an offset; null: never. Sessions that are open at this time end."""
    password: str
    """The password. It is not shown again. Case, spaces and hyphens do not matter when it is entered."""

class ContactImportPreviewColumn(Object):
    column: int
    """Number of the column, counted from 1."""
    heading: str
    field: Optional[str]
    """Field that the column would have; null for a column that is left out."""

class ContactImportPreviewError(Object):
    line: int
    """Line of the file."""
    email: str
    """What stands in the column of the address."""
    error: str

class ContactImportPreview(Object):
    encoding: str
    """Encoding in which the file would be read."""
    has_headings: bool
    """False when the first line is a row, because it has an address."""
    columns: List[ContactImportPreviewColumn]
    checked_rows: int
    """Number of rows that were read: at most 1000."""
    is_complete: bool
    """True when these are all rows of the file."""
    failed: int
    """Number of these rows that would be refused."""
    rows: List[Dict[str, Any]]
    """The first 10 rows that would be imported."""
    errors: List[ContactImportPreviewError]
    """The first 10 rows that would be refused."""
    warnings: List[str]

class MailboxThreadSummary(Object):
    id: str
    """Id of its first message. The id of every other message of the thread leads to it too."""
    subject: str
    """Subject of the first message."""
    participants: List[str]
    """Authors of the first and the 20 newest messages as `Name <address>` or `address`."""
    message_count: int
    unread_count: int
    last_at: str
    """Time of arrival of the newest message."""
    preview: str
    """First words of the newest message."""

class InboundMessageSummary(Object):
    id: str
    from_: str
    """Address of the author, or else the sender of the envelope."""
    to: List[str]
    """Recipients of the envelope that have a route."""
    subject: str
    size: int
    """Size of the message in bytes."""
    flagged: bool
    """True when the message is probably spam."""
    email_id: Optional[str]
    """Your email that the message answers; null when it answers none."""
    created_at: str

class MailboxMessageSummary(Object):
    id: str
    """It stays when the message is moved (EMAILID of IMAP)."""
    folder: MailboxMessageFolder
    from_: List[str]
    """Authors as `Name <address>` or `address`."""
    to: List[str]
    cc: List[str]
    subject: str
    preview: str
    """First words of the text."""
    date: Optional[str]
    """Date of the header; null without a valid one."""
    message_id: Optional[str]
    """Message-ID with its angle brackets."""
    received_at: str
    """Time of arrival."""
    size: int
    """Size of the message in bytes."""
    unread: bool
    flagged: bool
    answered: bool
    draft: bool
    keywords: List[str]
    """Further flags that programs have set."""

class TemplateVersionSummary(Object):
    id: str
    subject: str
    key_id: Optional[str]
    """Id of the API key that made the content; null when a person did, or when it is not known."""
    person_id: Optional[str]
    """Id of the person that made the content in the dashboard; null otherwise."""
    created_at: str
    """Time at which the template got the content."""

class InboundRouteWithSecret(Object):
    id: str
    address: str
    """Address in lower case, with its domain in A-labels."""
    destination: str
    enabled: bool
    disabled_reason: Optional[str]
    """`failures`: no post had succeeded for days; `gone`: the receiver answered 410."""
    disabled_at: Optional[str]
    failing_since: Optional[str]
    """Time since which no post has succeeded; null while posts succeed."""
    suspended_until: Optional[str]
    """Time before which nothing is posted, because the last post failed; null while posts succeed."""
    waiting_since: Optional[str]
    """Time since which the oldest event waits to be posted; null when none waits."""
    created_at: str
    updated_at: str
    secret: str
    """Secret that signs every post. It is not shown again."""

class WebhookDeliveryWithBody(Object):
    id: str
    event_id: str
    event_type: str
    status: str
    """`skipped`: the delivery was not posted, or not posted again, because the endpoint is disabled."""
    attempts: int
    """Number of posts so far, a running one included. A replay begins at 0."""
    response_status: Optional[int]
    """HTTP status of the last answer; null: there was none."""
    response_time_ms: Optional[int]
    """How long that answer took."""
    error: Optional[str]
    """Description of the error."""
    response_body: Optional[str]
    """Beginning of the last response, at most 4 KB, read as UTF-8."""
    next_attempt_at: Optional[str]
    """Time of the next post; null when there is none, and while a post is running."""
    created_at: str
    request_body: str
    """Exact body of the post, which the signature covers."""

SuppressionImportPreview = ContactImportPreview

class WebhookEndpointWithSecret(Object):
    id: str
    url: str
    events: List[str]
    status: str
    disabled_reason: Optional[str]
    """`failures`: no post had succeeded for days; `gone`: the receiver answered 410."""
    disabled_at: Optional[str]
    failing_since: Optional[str]
    """Time since which no post has succeeded; null while posts succeed."""
    suspended_until: Optional[str]
    """Time before which nothing is posted, because the last post failed. The first pause is a quarter of a second; it doubles with each failure, up to a minute. Null while posts succeed."""
    waiting_since: Optional[str]
    """Time since which the oldest event waits to be posted; null when none waits."""
    previous_secret_expires_at: Optional[str]
    """Time until which posts are also signed with the previous secret; null when they are not."""
    description: Optional[str]
    domain_id: Optional[str]
    """Domain whose events alone are posted: those of its emails, its broadcasts, the mail that arrives there, and its state. Null: the events of the whole tenant. An endpoint that is made with an API key of one domain has that domain. It cannot be changed."""
    format: str
    """Shape of the posts. `resend`: that of the webhooks of Resend, with the header fields `svix-id`, `svix-timestamp` and `svix-signature`, for programs that were written for them. It cannot be changed."""
    created_at: str
    updated_at: str
    secret: str
    """Secret that signs every post. It is not shown again."""

class EmailSentEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""

class EmailSentEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.sent"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailSentEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailHeldEventDataHold(Object):
    reason: str
    """`interrupted`: the daemon ended during several attempts. `damaged`: the stored message is missing or was changed. `operator`: the operator of the server holds the mail. `approval`: a person has to approve it."""
    diagnostic: str
    """The reason in words."""

class EmailHeldEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""
    hold: EmailHeldEventDataHold
    """Reason why delivery is not attempted until an operator releases the email, or a person approves it."""

class EmailHeldEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.held"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailHeldEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailQueuedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.queued"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailSentEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailOpenedEventDataOpen(Object):
    timestamp: str
    """When the message was opened, in ISO 8601 and UTC."""
    ip: Optional[str]
    user_agent: Optional[str]
    bot: bool
    """True when a machine probably made the request, such as a scanner of links."""
    bot_reason: Optional[str]

class EmailOpenedEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""
    open: EmailOpenedEventDataOpen

class EmailOpenedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.opened"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailOpenedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailBouncedEventDataBounce(Object):
    type: str
    """The type is `permanent` exactly when the address was added to the suppressions."""
    sub_type: str
    class_: str
    """What the reply means, such as `bad-mailbox` or `rate`."""
    advice: str
    """What you can do, in a sentence."""
    smtp_code: Optional[int]
    enhanced_code: Optional[str]
    diagnostic: Optional[str]
    source: str
    """An SMTP reply or a delivery status notification."""

class EmailBouncedEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""
    bounce: EmailBouncedEventDataBounce
    """Reason why the recipient bounced."""

class EmailBouncedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.bounced"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailBouncedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailClickedEventDataClick(Object):
    timestamp: str
    """When the link was followed, in ISO 8601 and UTC."""
    link: str
    """The link that was followed, variables filled in."""
    ip: Optional[str]
    user_agent: Optional[str]
    bot: bool
    """True when a machine probably made the request, such as a scanner of links."""
    bot_reason: Optional[str]

class EmailClickedEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""
    click: EmailClickedEventDataClick

class EmailClickedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.clicked"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailClickedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class DomainFailedEventData(Object):
    domain_id: str
    name: str
    """The name of the domain."""
    status: str

class DomainFailedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["domain.failed"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: DomainFailedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailCanceledEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.canceled"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailSentEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailReceivedEventDataAuth(Object):
    spf: str
    dkim: str
    dmarc: str

class EmailReceivedEventData(Object):
    id: str
    """The id of the received message."""
    sender: str
    """The sender of the envelope: one address, or empty for a bounce."""
    to: str
    """The first of the recipients."""
    recipients: List[str]
    """The recipients of the envelope that have a route; for an endpoint of one domain, those at that domain."""
    from_: str
    """The author: the address of the `From` field, or the sender when that field names none."""
    subject: Optional[str]
    message_id: Optional[str]
    email_id: Optional[str]
    size_bytes: int
    """Size of the message in bytes."""
    auth: EmailReceivedEventDataAuth
    """Results of authentication, such as `pass` or `none`. DKIM passes when one signature does."""
    flagged: bool
    """True when the message is marked as probable spam."""
    created_at: str
    """When the message was received, in ISO 8601 and UTC."""

class EmailReceivedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.received"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailReceivedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class BroadcastSentEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["broadcast.sent"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: BroadcastSummary
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailDeliveredEventDataDelivery(Object):
    smtp_response: str
    """The final reply of the receiving server."""
    mx: Optional[str]
    tls: Optional[str]
    duration_ms: int
    """Duration of the attempt in milliseconds."""

class EmailDeliveredEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""
    delivery: EmailDeliveredEventDataDelivery
    """The successful attempt."""

class EmailDeliveredEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.delivered"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailDeliveredEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class DomainVerifiedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["domain.verified"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: DomainFailedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class ContactCreatedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["contact.created"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Contact
    test: bool
    """Present only in a test post, whose data is made up."""

class ContactUpdatedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["contact.updated"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Contact
    test: bool
    """Present only in a test post, whose data is made up."""

class ContactDeletedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["contact.deleted"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Contact
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailComplainedEventDataComplaint(Object):
    feedback_type: str
    """The type of the report (RFC 5965 section 3.1), such as `abuse`."""
    user_agent: Optional[str]
    arrived_at: str
    """When the report arrived, in ISO 8601 and UTC."""
    class_: str
    """What the reply means, such as `bad-mailbox` or `rate`."""
    advice: str
    """What you can do, in a sentence."""

class EmailComplainedEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""
    complaint: EmailComplainedEventDataComplaint
    """The report of the recipient."""

class EmailComplainedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.complained"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailComplainedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailSuppressedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.suppressed"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailSentEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class BroadcastPausedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["broadcast.paused"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: BroadcastSummary
    test: bool
    """Present only in a test post, whose data is made up."""

class BroadcastFailedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["broadcast.failed"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: BroadcastSummary
    test: bool
    """Present only in a test post, whose data is made up."""

class ApprovalExpiredEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["approval.expired"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Approval
    test: bool
    """Present only in a test post, whose data is made up."""

class SuppressionAddedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["suppression.added"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Suppression
    test: bool
    """Present only in a test post, whose data is made up."""

class ApprovalApprovedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["approval.approved"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Approval
    test: bool
    """Present only in a test post, whose data is made up."""

class ApprovalDeclinedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["approval.declined"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Approval
    test: bool
    """Present only in a test post, whose data is made up."""

class ApprovalRequestedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["approval.requested"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Approval
    test: bool
    """Present only in a test post, whose data is made up."""

class ApprovalWithdrawnEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["approval.withdrawn"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Approval
    test: bool
    """Present only in a test post, whose data is made up."""

class SuppressionRemovedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["suppression.removed"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Suppression
    test: bool
    """Present only in a test post, whose data is made up."""

class ContactUnsubscribedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["contact.unsubscribed"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: Contact
    test: bool
    """Present only in a test post, whose data is made up."""

class EmailDeliveryDelayedEventDataDelay(Object):
    diagnostic: str
    """The reply of the receiving server, or the reason why none was reached."""
    class_: str
    """What the reply means, such as `bad-mailbox` or `rate`."""
    advice: str
    """What you can do, in a sentence."""
    attempt: int
    """Number of the attempt, from 1; 0 when none was made yet, because the receiving servers get a pause."""
    next_attempt_at: Optional[str]
    expires_at: Optional[str]

class EmailDeliveryDelayedEventData(Object):
    email_id: str
    """The id of the email, as `POST /v1/emails` returned it."""
    to: str
    """The recipient that the event is about: one address without a name."""
    from_: str
    """The sender: one address without a name."""
    subject: str
    message_id: str
    """The `Message-ID` field of the message, in angle brackets."""
    tags: Dict[str, str]
    """The tags of the email."""
    broadcast_id: Optional[str]
    template_id: Optional[str]
    created_at: str
    """When the email was accepted, in ISO 8601 and UTC."""
    delay: EmailDeliveryDelayedEventDataDelay
    """The attempt that was deferred."""

class EmailDeliveryDelayedEvent(Object):
    id: str
    """Id of the event. It is the same in every attempt to post the event, so receivers can recognise repetitions by it."""
    type: Literal["email.delivery_delayed"]
    created_at: str
    """When the event happened, in ISO 8601 and UTC."""
    mode: str
    data: EmailDeliveryDelayedEventData
    test: bool
    """Present only in a test post, whose data is made up."""

class CreateSuppressionsAnswerData(Object):
    id: str
    email: str
    """Address in lower case."""
    reason: str
    """Reason why no mail is sent to the address."""
    source_email_id: Optional[str]
    """Email whose bounce or complaint suppressed the address; null when it was added otherwise."""
    diagnostic: Optional[str]
    """Response of the receiving server."""
    created_at: str
    created: bool
    """False when the address was suppressed already."""

class CreateSuppressionsAnswerData2(Object):
    error: BroadcastTestDataError

class CreateSuppressionsAnswer(Object):
    data: List[Union[CreateSuppressionsAnswerData, CreateSuppressionsAnswerData2]]
    """One item for each given address, in the same order."""

class DeleteSuppressionsAnswerData(Object):
    email: str
    """Address as the request gave it."""
    deleted: bool
    """False when the address was not suppressed."""

class DeleteSuppressionsAnswer(Object):
    data: List[DeleteSuppressionsAnswerData]
    """One item for each given address, in the same order."""

class SearchEmailSubjectsAnswer(Object):
    data: List[EmailSummary]
    examined: int
    """Number of emails whose subjects were read: at most the newest 5000."""
    since: Optional[str]
    """Time of acceptance of the oldest of them; null when there was none."""
    is_complete: bool
    """True when the subjects of all emails of the last days were read."""

Event = Union[EmailQueuedEvent, EmailSentEvent, EmailDeliveredEvent, EmailBouncedEvent, EmailComplainedEvent, EmailOpenedEvent, EmailClickedEvent, EmailDeliveryDelayedEvent, EmailSuppressedEvent, EmailCanceledEvent, EmailHeldEvent, EmailReceivedEvent, DomainVerifiedEvent, DomainFailedEvent, ContactCreatedEvent, ContactUpdatedEvent, ContactDeletedEvent, ContactUnsubscribedEvent, SuppressionAddedEvent, SuppressionRemovedEvent, BroadcastSentEvent, BroadcastPausedEvent, BroadcastFailedEvent, ApprovalRequestedEvent, ApprovalApprovedEvent, ApprovalDeclinedEvent, ApprovalExpiredEvent, ApprovalWithdrawnEvent]
"""An event as it is posted to a webhook endpoint. A newer daemon may send others."""
