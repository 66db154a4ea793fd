/** Builds what a mailbox sends because of a message: redirects, automatic replies, notifications, and refusals. */
import { discardAll } from '../../blobs/discard-on-refusal.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { isLocalDomain, isSandboxDomain } from '../../domains/sender.ts';
import { addressKey, type Mailbox, parseMailbox, withoutTag } from '../../mail/address.ts';
import {
  type ComposedMail,
  composeNotification,
  composeReply,
  reasonNotToReply,
} from '../../mail/auto-reply.ts';
import { splitFields } from '../../mail/dkim/verify/header-fields.ts';
import { composeReport } from '../../mail/dsn/write.ts';
import type { HeaderField } from '../../mail/message/header-block.ts';
import { dateField } from '../../mail/message/headers.ts';
import type { Target } from '../../mail/sieve/actions.ts';
import {
  asksForNotifications,
  envelopeIdOf,
  originalRecipientOf,
  wantsNotification,
  withoutSuccess,
} from '../../mail/smtp/dsn-parameters.ts';
import { withItsAliases } from '../../mailboxes/addresses/store.ts';
import { memoryKey } from '../../mailboxes/scripts/memory-key.ts';
import { readWantedMessage } from '../../queue/returned-message.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { buildForward } from '../forward/forward.ts';
import { GIVE_BACK } from '../forward/give-back.ts';
import { buildOwnMail } from '../forward/own-mail.ts';
import { isProbablyForged, provenSenderOf } from '../forward/proven-sender.ts';
import { buildPersonalMail, findAuthor } from './author.ts';
import {
  type BuiltAnswer,
  type BuiltMail,
  type BuiltRedirect,
  blobsOf,
  type ReplyClaim,
} from './built-mail.ts';
import { fieldsOf, type ScriptApp, type ScriptedDelivery } from './delivery.ts';
import { EditedMessages, repeatsOrigin, withoutPrefix } from './edited-message.ts';
import type { Notification, Outgoing, Plan, Redirect, Rejection, Vacation } from './plan.ts';

/** Maximum number of recipients of the notifications about a message. */
const MAX_NOTIFIED = 4;
/** X.7.1 is a refusal by policy (RFC 3463 section 3.8, RFC 5429 section 2.2). */
const REFUSED = '5.7.1';

/**
 * Returns what is sent. Something that must not be sent, such as a reply to a mailing list, is left out, and so is a redirect that cannot
 * be built: the caller keeps its message.
 */
export async function buildOutgoing(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  { outgoing, filings }: Pick<Plan, 'outgoing' | 'filings'>,
): Promise<BuiltMail[]> {
  const edited = new EditedMessages(app.blobs, delivery);
  const built: BuiltMail[] = [];
  const isStored = filings.length > 0;
  const isAlone = !isStored && outgoing.filter(({ kind }) => kind === 'redirect').length === 1;
  try {
    let notified = 0;
    for (const [index, action] of outgoing.entries()) {
      if (action.kind === 'notify') notified += action.to.length + action.cc.length;
      if (action.kind === 'notify' && notified > MAX_NOTIFIED) continue;
      const mail = await buildAction(app, delivery, { action, edited, isStored, isAlone });
      const position = outgoing.slice(0, index).filter(({ kind }) => kind === action.kind).length;
      if (mail) built.push({ ...mail, position });
    }
    return built;
  } finally {
    const used = new Set(built.flatMap(blobsOf));
    await discardAll(
      app.blobs,
      edited.rows.filter((row) => !used.has(row)),
    );
  }
}

/** When nobody is told that the redirect has failed, the mailbox gets a message back that it stores nowhere. */
function withOwner(
  built: BuiltRedirect | undefined,
  { mailbox, named }: ScriptedDelivery,
  isStored: boolean,
): BuiltRedirect | undefined {
  if (!built || isStored) return built;
  if (built.forward.notification && named.some(({ dsn }) => wantsNotification(dsn, 'FAILURE'))) return built;
  const { id: messageId } = built.forward.message;
  const notification = { messageId, address: GIVE_BACK, recipient: mailbox.id, named: [] };
  return { ...built, forward: { ...built.forward, notification } };
}

type Composed = Exclude<Outgoing, Redirect>;

type Building = {
  action: Outgoing;
  edited: EditedMessages;
  isStored: boolean;
  /** True when the message goes to one address, and is stored nowhere. */
  isAlone: boolean;
};

async function buildAction(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  { action, edited, isStored, isAlone }: Building,
): Promise<BuiltRedirect | BuiltAnswer | undefined> {
  if (action.kind !== 'redirect') return await buildOrLeaveOut(app, delivery, action);
  return withOwner(await buildRedirect(app, delivery, { action, edited, isAlone }), delivery, isStored);
}

/** Mail that cannot be composed now can never be, for instance with a field that is too long. The delivery does not wait for it. */
async function buildOrLeaveOut(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  action: Composed,
): Promise<BuiltAnswer | undefined> {
  try {
    return await buildComposed(app, delivery, action);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { id: mailboxId } = delivery.mailbox;
    app.log.warn({ mailboxId, kind: action.kind, err: error }, 'mail of a script could not be composed');
    return undefined;
  }
}

function buildComposed(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  action: Composed,
): Promise<BuiltAnswer | undefined> {
  switch (action.kind) {
    case 'vacation':
      return buildVacation(app, delivery, action);
    case 'notify':
      return buildNotification(app, delivery, action);
    case 'reject':
      return buildRejection(app, delivery, action);
  }
}

async function buildRedirect(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  { action: { address, header }, edited, isAlone }: Omit<Building, 'isStored'> & { action: Redirect },
): Promise<BuiltRedirect | undefined> {
  const { message, mailbox, named } = delivery;
  const to = parseMailbox(address);
  if (!to || !mayRedirect(app, mailbox, to)) return undefined;
  const { address: recipient, tenantId: scheduledFor } = mailbox;
  // The fields of the reception are added again when the message is forwarded.
  const changed = header === null ? undefined : withoutPrefix(Buffer.from(header, 'base64'), delivery.prefix);
  // A message with a second author would be sealed here, although the script may have named anybody.
  if (changed && repeatsOrigin(changed, delivery.header)) return undefined;
  const blob = changed && (await edited.prepare(changed));
  const forward = await buildForward(app, message, {
    recipient,
    // The end of the delivery reports a message that is stored, or sent on to several addresses.
    named: isAlone
      ? named
      : named.map(({ address: one, dsn }) => ({ address: one, dsn: withoutSuccess(dsn) })),
    addresses: [to.address],
    scheduledFor,
    edited: blob && { blobId: blob.id, content: app.blobs.openPrepared(blob) },
  });
  if (forward.kind === 'built') return { kind: 'redirect', forward, blob };
  const { reason } = forward;
  app.log.warn({ mailboxId: mailbox.id, reason }, 'a message could not be redirected');
  return undefined;
}

/**
 * Returns true when a mailbox may send mail on to an address. As for mail that people submit, nothing leaves from the sandbox domain to the
 * world: test keys make mailboxes there.
 */
function mayRedirect({ config }: Pick<ScriptApp, 'config'>, { domain }: MailboxRow, to: Mailbox): boolean {
  return !isSandboxDomain(config, domain) || isLocalDomain(config, to.domain);
}

async function buildVacation(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  action: Vacation,
): Promise<BuiltAnswer | undefined> {
  const fields = fieldsOf(delivery);
  const claim = await findReplyClaim(app, delivery, { action, fields });
  const to = parseMailbox(delivery.message.sender);
  const author = to && (await findAuthor(app, delivery.mailbox, { named: action.from, to: [to] }));
  if (!claim || !to || !author) return undefined;
  const id = newId('em', app.clock.now());
  const composed = composeReply({
    messageId: messageIdOf(delivery, id),
    from: author.from,
    to,
    subject: action.subject,
    text: action.reason,
    isMime: action.isMime,
    fields,
  });
  const mail = await buildPersonalMail(app, delivery, { id, author, composed, to: [to.address] });
  return { kind: 'vacation', mail, claim, copy: copyOf(app, action, composed) };
}

/** Returns the key under which the reply to the sender is sent once; undefined when the message is not answered. */
async function findReplyClaim(
  { clock, db }: ScriptApp,
  { message, mailbox, recipient }: ScriptedDelivery,
  { action, fields }: { action: Vacation; fields: readonly HeaderField[] },
): Promise<ReplyClaim | undefined> {
  const { handle, seconds, addresses } = action;
  // Spam, and mail whose sender is probably forged, would make others get replies that they have not asked for.
  if (message.flagged === 1 || (await isProbablyForged(message))) return undefined;
  const { aliases } = await withItsAliases(db.read, mailbox);
  // The owner is known by these addresses (RFC 5230 section 4.5).
  const own = [mailbox.address, recipient, ...aliases, ...addresses];
  if (reasonNotToReply({ sender: message.sender, fields, own }) !== undefined) return undefined;
  return {
    key: memoryKey('vacation', handle, keyWithoutTag(message.sender)),
    expiresAt: clock.now() + seconds * 1_000,
  };
}

/** All tags of an address are one person, who gets one reply. */
function keyWithoutTag(address: string): string {
  const at = address.lastIndexOf('@');
  const localPart = address.slice(0, at);
  return addressKey(`${withoutTag(localPart) ?? localPart}${address.slice(at)}`);
}

/** Builds a notification. The run has left out those about mail that a program has sent (RFC 5436 section 2.7). */
async function buildNotification(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  action: Notification,
): Promise<BuiltAnswer | undefined> {
  const { mailbox } = delivery;
  const fields = fieldsOf(delivery);
  const to = action.to.flatMap((address) => parseMailbox(address) ?? []);
  const cc = action.cc.flatMap((address) => parseMailbox(address) ?? []);
  const author = await findAuthor(app, mailbox, { named: action.from, to: [...to, ...cc] });
  if (to.length === 0 || !author) return undefined;
  const id = newId('em', app.clock.now());
  const composed = composeNotification({
    messageId: messageIdOf(delivery, id),
    from: author.from,
    to,
    cc,
    owner: mailbox.address,
    subject: action.subject,
    text: action.body,
    importance: action.importance,
    headers: action.fields,
    fields,
  });
  const addresses = [...to, ...cc].map(({ address }) => address);
  const mail = await buildPersonalMail(app, delivery, { id, author, composed, to: addresses });
  return { kind: 'notify', mail, claim: undefined, copy: copyOf(app, action, composed) };
}

/** A message that was accepted is refused by a report, and only to a sender that was proven, since others would be told of forged mail. */
async function buildRejection(
  app: ScriptApp,
  { message, mailbox, header, named }: ScriptedDelivery,
  { reason }: Rejection,
): Promise<BuiltAnswer | undefined> {
  const told = named.filter(({ dsn }) => wantsNotification(dsn, 'FAILURE'));
  const hasAsked = named.some(({ dsn }) => asksForNotifications(dsn));
  const fields = splitFields(header.toString('latin1'));
  const address = await provenSenderOf(app, message, { fields, hasAsked });
  const to = address === undefined ? undefined : parseMailbox(address);
  if (!to || told.length === 0) return undefined;
  const whole = await readWantedMessage(app, message);
  const refusers = told.map((one) => `<${one.address}>`).join(', ');
  const hostname = app.config.hostname.toLowerCase();
  const id = newId('em', app.clock.now());
  const composed = composeReport({
    messageId: `${id}@${hostname}`,
    hostname,
    to,
    envelopeId: envelopeIdOf(message.dsn),
    arrivedAt: message.createdAt,
    message: whole,
    header: header.subarray(0, -'\r\n'.length),
    isUtf8: message.utf8 === 1,
    subject: 'Your message was refused',
    text: `This is the mail server ${hostname}.\n\nThe recipient ${refusers} has refused your message:\n\n${reason}\n\n${whole ? 'Your' : 'The header of your'} message follows.\n`,
    recipients: told.map((one) => ({
      address: one.address,
      original: originalRecipientOf(one.dsn),
      action: 'failed',
      status: REFUSED,
    })),
  });
  const envelope = { to: [to.address], scheduledFor: mailbox.tenantId, returnPath: '' };
  const mail = await buildOwnMail(app, { id, ...composed, ...envelope, requireTls: message.requireTls });
  return { kind: 'reject', mail, claim: undefined, copy: undefined };
}

function copyOf(
  { clock }: ScriptApp,
  { copy: target }: Vacation | Notification,
  { bytes }: ComposedMail,
): { target: Target; bytes: Buffer } | undefined {
  return target && { target, bytes: Buffer.concat([Buffer.from(dateField(clock.now())), bytes]) };
}

function messageIdOf({ mailbox }: ScriptedDelivery, id: string): string {
  return `${id}@${mailbox.domain}`;
}
