/** Builds the rows of an email that was handed over by SMTP. The message is sent as it came, and what the API shows is read from its header. */
import type { App } from '../app.ts';
import type { EmailRow } from '../db/email-tables.ts';
import type { MessageRow } from '../db/tables.ts';
import type { SenderDomain } from '../domains/sender.ts';
import type { EmailRows } from '../emails/accept.ts';
import { policyOf } from '../emails/build-rows.ts';
import { maxAgeMs } from '../emails/request/schedule.ts';
import { readTags, type Tag } from '../emails/request/tags.ts';
import { addressKey } from '../mail/address.ts';
import { readAddressList } from '../mail/message/address-list.ts';
import { decodeWords } from '../mail/message/decode-words.ts';
import { TLS_REQUIRED_FIELD, tlsWishOf } from '../mail/tls-policy/tls-wish.ts';
import { newMessage } from '../queue/new-message.ts';
import { invalid } from '../system/errors.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { findText, type SubmittedHeader, TAG_FIELD } from './header.ts';
import { needsUtf8, type Submission } from './user.ts';

type Sender = Pick<MessageRow, 'tenantId' | 'mode' | 'domainId'>;

type Building = { submission: Submission; sender: SenderDomain; simulatorOnly: boolean };

/** Maximum number of addresses of a field that are read. */
const MAX_ADDRESSES = 1_000;
/** Maximum length of a subject that is stored, that of a line (RFC 5322 section 2.1.1). The message itself has all of it. */
const MAX_SUBJECT_CHARACTERS = 998;
/** Maximum number of tags of an email (specification 4.1). */
const MAX_TAGS = 10;

type Field = 'to' | 'cc' | 'bcc';

/**
 * Returns the rows of an email.
 * @throws AppError validation_error for a malformed tag
 */
export function buildEmail(
  app: Pick<App, 'config' | 'clock'>,
  caller: Caller,
  { submission, sender, simulatorOnly }: Building,
): EmailRows {
  const { header, blob } = submission;
  const tags = tagsOf(header);
  const named = { to: namesIn(header, 'to'), cc: namesIn(header, 'cc') };
  const recipients = submission.recipients.map(({ address, domain }) => ({
    field: fieldOf(named, address),
    address,
    domain,
  }));
  const { tenantId, mode } = caller;
  const message: MessageRow = {
    ...buildMessage(app, submission, { tenantId, mode, domainId: sender.domainId }),
    complaintHost: sender.returnPathHost,
  };
  return {
    ...policyOf(app.config, caller, { type: 'transactional', topic: undefined, recipients, simulatorOnly }),
    blob,
    source: undefined,
    textBytes: 0,
    tags,
    targets: [],
    message,
    email: buildRow(caller, { submission, message, tags, named, recipients }),
  };
}

type Names = ReadonlyMap<string, string>;
type Row = Pick<Building, 'submission'> & {
  message: MessageRow;
  tags: readonly Tag[];
  named: { to: Names; cc: Names };
  recipients: EmailRows['recipients'];
};

function buildRow(
  { tenantId, mode, keyId }: Caller,
  { submission, message, tags, named, recipients }: Row,
): EmailRow {
  const { id, header } = submission;
  const { from } = header;
  const shown = (field: Field) =>
    JSON.stringify(
      recipients
        .filter((recipient) => recipient.field === field)
        .map(
          ({ address }) => named.to.get(addressKey(address)) ?? named.cc.get(addressKey(address)) ?? address,
        ),
    );
  return {
    id: id as EmailRow['id'],
    tenantId,
    mode,
    type: 'transactional',
    fromHeader: from.name === undefined ? from.address : `${from.name} <${from.address}>`,
    fromAddress: addressKey(from.address),
    fromDomain: from.domain,
    toList: shown('to'),
    ccList: shown('cc'),
    bccList: shown('bcc'),
    replyToList: JSON.stringify([...namesIn(header, 'reply-to').values()]),
    subject: decodeWords(findText(header, 'subject') ?? '')
      .slice(0, MAX_SUBJECT_CHARACTERS)
      .toWellFormed(),
    html: null,
    text: null,
    headers: '{}',
    attachments: '[]',
    tags: JSON.stringify(Object.fromEntries(tags.map(({ key, value }) => [key, value]))),
    scheduledAt: message.datedAt > message.createdAt ? message.datedAt : null,
    templateId: null,
    topicId: null,
    broadcastId: null,
    missingVariables: '[]',
    rfcMessageId: /<([^<>\s]+)>/.exec(findText(header, 'message-id') ?? '')?.[1] ?? `${id}@${from.domain}`,
    createdAt: message.createdAt,
    contentDeletedAt: null,
    apiKeyId: keyId,
  };
}

/** Recipients that neither To nor Cc names are blind copies. */
function fieldOf({ to, cc }: { to: Names; cc: Names }, address: string): Field {
  const key = addressKey(address);
  return to.has(key) ? 'to' : cc.has(key) ? 'cc' : 'bcc';
}

/** Returns the addresses of a field with their names, by their `addressKey`. */
function namesIn(header: SubmittedHeader, name: string): Map<string, string> {
  const names = new Map<string, string>();
  for (const entry of readAddressList(findText(header, name) ?? '', MAX_ADDRESSES)) {
    if (entry.mailbox === null || entry.host === null) continue;
    const address = `${entry.mailbox}@${entry.host.toLowerCase()}`;
    const shown = decodeWords(entry.name ?? '').toWellFormed();
    if (!names.has(addressKey(address)))
      names.set(addressKey(address), shown === '' ? address : `${shown} <${address}>`);
  }
  return names;
}

/**
 * Returns the tags of the fields X-Service-Tag: a key and a value, such as `campaign: spring`.
 * @throws AppError validation_error
 */
function tagsOf({ options }: SubmittedHeader): Tag[] {
  const texts = options.get(TAG_FIELD) ?? [];
  if (texts.length > MAX_TAGS) throw invalid('X-Service-Tag', `An email has at most ${MAX_TAGS} tags`);
  const tags = texts.map((text) => {
    const colon = text.indexOf(':');
    const key = text.slice(0, Math.max(colon, 0)).trimEnd();
    const value = text.slice(colon + 1).trimStart();
    if (key === '') throw invalid('X-Service-Tag', 'A tag is a key and a value, such as "campaign: spring"');
    return [key, value] as const;
  });
  return readTags(Object.fromEntries(tags));
}

/** Returns the row of a message whose bounces come to a return path of this installation, and which no mailbox has written. */
export function buildMessage(
  { config, clock }: Pick<App, 'config' | 'clock'>,
  submission: Submission,
  { tenantId, mode, domainId }: Sender,
): MessageRow {
  const { id, blob, headerBytes, bodyHash, header, envelope } = submission;
  const now = clock.now();
  return newMessage({
    id,
    tenantId,
    mode,
    sender: header.from.address,
    domainId,
    blobId: blob.id,
    headerBytes,
    bodyHash,
    now,
    datedAt: Math.max(envelope.releaseAt ?? now, now),
    maxAgeMs: maxAgeMs(config, 'transactional'),
    requireTls: tlsWishOf(envelope.requireTls, findText(header, TLS_REQUIRED_FIELD)),
    utf8: needsUtf8(submission),
  });
}
