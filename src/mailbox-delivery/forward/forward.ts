/**
 * Forwards a received message to other addresses: it gets the fields that show its way, an ARC set, and an envelope sender of this
 * installation. Its own fields and its body stay as they are, so that signatures of its author still verify.
 */
import { isAscii } from 'node:buffer';
import type { App } from '../../app.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import type { NamedRecipient, NewFailureNotification, ReceivedMessageRow } from '../../db/inbound-tables.ts';
import type { MessageRow } from '../../db/tables.ts';
import { installationKeyOf } from '../../domains/installation/key.ts';
import { bounceDomain } from '../../domains/records.ts';
import { maxAgeMs } from '../../emails/request/schedule.ts';
import { isAsciiAddress } from '../../mail/address.ts';
import { sealMessage } from '../../mail/arc.ts';
import type { AuthenticationResult } from '../../mail/auth/result.ts';
import { createBodyHash } from '../../mail/dkim/body-hash.ts';
import { fieldValue, type HeaderField, splitFields } from '../../mail/dkim/verify/header-fields.ts';
import { MAX_HEADER_BYTES } from '../../mail/header-limits.ts';
import {
  asksForNotifications,
  wantsNotification,
  withOriginalRecipient,
  withoutSuccess,
  withoutWholeMessage,
} from '../../mail/smtp/dsn-parameters.ts';
import { TLS_REQUIRED_FIELD, tlsWishOf } from '../../mail/tls-policy/tls-wish.ts';
import { FORWARD_MARK } from '../../mail/trace-fields.ts';
import { newMessage } from '../../queue/new-message.ts';
import { forwardedLocalPart, returnAddressKeyOf } from '../../queue/return-path.ts';
import type { NewRecipient } from '../../queue/store.ts';
import { newId } from '../../system/ids.ts';
import { forwardMark, readForwardMarks } from './mark.ts';
import { newRecipient, OF_INSTALLATION } from './own-mail.ts';
import { provenSenderOf, senderRewritingOf } from './proven-sender.ts';

export type Forwarding = {
  /** Address that the message came to. It becomes a part of the header, by which a loop is noticed. */
  recipient: string;
  /**
   * The recipients that the sender named, with what it wants to be told about them; at least one. Where the caller reports the delivery itself,
   * none asks for that.
   */
  named: readonly NamedRecipient[];
  /** Addresses that the message goes to. */
  addresses: readonly string[];
  /** Tenant whose mailbox sends the message on; by default the installation does. */
  scheduledFor?: string;
  /**
   * The message in place of the received one, with a header that was edited. Its bytes are not committed yet. The caller has looked for
   * loops in the header that was received.
   */
  edited?: { blobId: NonNullable<ReceivedMessageRow['blobId']>; content: BlobContent } | undefined;
};

/** The rows of a forwarded message, or the reason why it is not forwarded. */
export type BuiltForward =
  | {
      kind: 'built';
      message: MessageRow;
      recipients: NewRecipient[];
      /** The sender to tell when the message cannot be delivered, or is delayed; undefined when nobody is told. */
      notification: NewFailureNotification | undefined;
    }
  | { kind: 'refused'; reason: 'deleted' | 'loop' | 'malformed' };

const HEADER_END = '\r\n\r\n';

/**
 * Builds the rows of a forwarded message. Its bytes are those that were received.
 * @throws DamagedBlobError when they have changed
 */
export async function buildForward(
  app: App,
  received: ReceivedMessageRow,
  { recipient, named, addresses, scheduledFor, edited }: Forwarding,
): Promise<BuiltForward> {
  const { blobId } = edited ?? received;
  if (blobId === null) return { kind: 'refused', reason: 'deleted' };
  const content = edited?.content ?? (await app.blobs.open(blobId));
  const header = await readHeader(content);
  if (!header) return { kind: 'refused', reason: 'malformed' };
  const fields = splitFields(header.toString('latin1'));
  if (!edited && hasPassed(app, fields, recipient)) return { kind: 'refused', reason: 'loop' };
  const bodyHash = await hashBody(content, header.length);
  const now = app.clock.now();
  const id = newId('em', now);
  const own = ownFields(app, received, recipient);
  const address = await provenSenderOf(app, received, { fields, hasAsked: named.some(hasAsked) });
  const message = newMessage({
    ...OF_INSTALLATION,
    id,
    sender: received.sender,
    blobId,
    headerBytes: header.length,
    bodyHash,
    now,
    maxAgeMs: maxAgeMs(app.config, 'transactional'),
    returnPath: returnPathFor(app, { id, sender: received.sender, now }),
    requireTls: tlsWishOf(received.requireTls === 1, tlsFieldOf(fields)),
    traceFields: (await seal(app, received, { own, header, fields, bodyHash })) + own,
    utf8: needsUtf8(received, { own, header, addresses }) ? 1 : 0,
    // Whoever forges a sender must not have its mail returned whole to somebody else.
    dsn: address === undefined ? withoutWholeMessage(received.dsn) : received.dsn,
  });
  const notification =
    address === undefined ? undefined : { messageId: message.id, address, recipient, named };
  const dsn = passedOn(named);
  const recipients = addresses.map((one) => ({ ...newRecipient(one, scheduledFor), dsn }));
  return { kind: 'built', message, recipients, notification };
}

function hasAsked({ dsn }: NamedRecipient): boolean {
  return asksForNotifications(dsn);
}

/**
 * Returns the parameters that the next server gets. It is not asked to report a delivery: its report would say where the mail of the recipient goes
 * (RFC 3461 section 5.2.7.4), and would go to a sender that may be forged. This installation reports that the server has taken the message. Of
 * several recipients, the wishes of the first count who wants to be told of something.
 */
function passedOn(named: readonly NamedRecipient[]): string | null {
  const wishes = named.map(({ address, dsn }) => ({ address, dsn: withoutSuccess(dsn) }));
  const first = wishes.find(({ dsn }) => wantsNotification(dsn, 'FAILURE')) ?? wishes[0];
  return first ? withOriginalRecipient(first.dsn, first.address) : null;
}

type Outgoing = { own: string; header: Buffer; addresses: readonly string[] };

/** A header that has other octets than ASCII, although it came without SMTPUTF8, goes on as it came. */
function needsUtf8({ utf8 }: ReceivedMessageRow, { own, header, addresses }: Outgoing): boolean {
  const hasUtf8Header = utf8 === 1 && !(isAscii(header) && isAscii(Buffer.from(own)));
  return hasUtf8Header || !addresses.every(isAsciiAddress);
}

function tlsFieldOf(fields: readonly HeaderField[]): string | undefined {
  const field = fields.find(({ name }) => name === TLS_REQUIRED_FIELD);
  return field && fieldValue(field);
}

/** Bytes of a message as far as forwarding reads them. */
type Content = Pick<BlobContent, 'sizeBytes' | 'head' | 'chunks'>;

/** Returns the header with the empty line after it; undefined when the message has no end of a header within its limit. */
async function readHeader(content: Content): Promise<Buffer | undefined> {
  const head = await content.head(MAX_HEADER_BYTES + HEADER_END.length);
  const end = head.indexOf(HEADER_END);
  if (end >= 0) return head.subarray(0, end + HEADER_END.length);
  return head.length === content.sizeBytes ? head : undefined;
}

/** Returns true when the message was forwarded from the recipient before, so that it would go round in circles. */
function hasPassed(app: App, fields: readonly HeaderField[], recipient: string): boolean {
  const marks = fields.filter(({ name }) => name === FORWARD_MARK.toLowerCase());
  return readForwardMarks(app, marks.map(fieldValue)).has(recipient);
}

async function hashBody(content: Content, headerBytes: number): Promise<string> {
  const hash = createBodyHash();
  let skippedBytes = headerBytes;
  for await (const chunk of content.chunks()) {
    hash.update(chunk.subarray(Math.min(skippedBytes, chunk.length)));
    skippedBytes = Math.max(0, skippedBytes - chunk.length);
  }
  return hash.digest();
}

/**
 * Returns the fields that were added when the message was received, with its recipient (RFC 9228) and the mark above them, one character for each
 * octet. Return-Path belongs to a delivery, and this is none (RFC 5321 section 4.4). A recipient in UTF-8 is left out, because the message
 * would then need SMTPUTF8 where it goes; the mark is enough to notice a loop.
 */
function ownFields(app: App, { trace }: ReceivedMessageRow, recipient: string): string {
  const lines = trace.replace(/^Return-Path:.*\r\n/, '');
  const mark = forwardMark(app, recipient);
  const delivered = isAsciiAddress(recipient) ? `Delivered-To: ${recipient}\r\n` : '';
  return Buffer.from(`${mark}${delivered}${lines}`).toString('latin1');
}

type Sealed = { own: string; header: Buffer; fields: readonly HeaderField[]; bodyHash: string };

/**
 * Returns the ARC set. Mail that came out of the queue of this installation is sealed when it brings no chain along. Otherwise it was
 * sealed here before, or nobody has validated its chain, which is then left as it is.
 */
async function seal(
  app: App,
  { auth, remoteAddress }: Pick<ReceivedMessageRow, 'auth' | 'remoteAddress'>,
  { own, header, fields, bodyHash }: Sealed,
): Promise<string> {
  const isLocal = remoteAddress === '';
  if (isLocal && fields.some(({ name }) => name.startsWith('arc-'))) return '';
  const chain = isLocal || auth === null ? 'none' : (JSON.parse(auth) as AuthenticationResult).arc.result;
  const results = splitFields(own).find(({ name }) => name === 'authentication-results');
  if (!results) return '';
  const whole = Buffer.concat([Buffer.from(own, 'latin1'), header]);
  const key = await installationKeyOf(app);
  const sealing = { header: whole, bodyHash, results: fieldValue(results), chain };
  return sealMessage(sealing, key, Math.floor(app.clock.now() / 1_000));
}

/**
 * Returns the envelope sender. Bounces keep the null sender (RFC 5321 section 4.5.5), and a sender at an address literal gets none. A sender without a rewritten form that every server
 * takes, because it is too long or in UTF-8, is found by the message, which keeps it.
 */
function returnPathFor(
  app: App,
  { id, sender, now }: { id: MessageRow['id']; sender: string; now: number },
): string {
  if (sender === '' || sender.endsWith(']')) return '';
  const rewritten = senderRewritingOf(app).rewrite(sender, now);
  const local =
    rewritten !== undefined && isAsciiAddress(rewritten)
      ? rewritten
      : forwardedLocalPart(returnAddressKeyOf(app), { emailId: id, forwardedAt: now });
  return `${local}@${bounceDomain(app.config)}`;
}
