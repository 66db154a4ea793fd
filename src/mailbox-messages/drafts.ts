/** Makes drafts of a mailbox, and sends them: each is sent once, however often it is asked for. */
import type { FastifyRequest } from 'fastify';
import type { MessageSummary } from '../accounts/messages/summaries.ts';
import { findReplay, type IdempotencyClaim } from '../emails/idempotency/store.ts';
import { addressKey, type Mailbox, parseMailbox } from '../mail/address.ts';
import { type HeaderFacts, listMailboxes, readHeaderFacts } from '../mail/message/parse/read-message.ts';
import type { Login } from '../mailboxes/credential.ts';
import { mayUseAddress } from '../mailboxes/sender-addresses.ts';
import type { ReceivedContents } from '../routes/messages/content.ts';
import { handOver, MAX_RECIPIENTS } from '../submission/hand-over.ts';
import type { SenderApp } from '../submission/submission-app.ts';
import { AppError, invalid } from '../system/errors.ts';
import { randomText } from '../system/ids.ts';
import { callerOf } from '../tenants/authenticate.ts';
import type { MailboxApp, MessageAccess } from './access.ts';
import { composeDraft, MAX_DRAFT_BYTES, type Original, readableMailboxes, withQuote } from './compose.ts';
import { openBytes, parseStored } from './content.ts';
import { claimDraftId, type DraftClaim, requireFreeKey } from './draft-claim.ts';
import type { NewDraft } from './draft-schemas.ts';

export type DraftApp = MailboxApp & SenderApp & { access: MessageAccess; contents: ReceivedContents };

/** Time for which it is remembered that a draft was sent, in milliseconds: a program that asks again later finds the sent message. */
const SENT_REMEMBERED_MS = 30 * 24 * 3_600_000;

/**
 * Makes a draft. With a claim, a repeated request returns the draft of the first one.
 * @throws AppError idempotency_conflict, validation_error, not_found, payload_too_large, invalid_state, unavailable
 */
export async function createDraft(
  app: DraftApp,
  login: Login,
  { wanted, claim }: { wanted: NewDraft; claim: DraftClaim | undefined },
): Promise<MessageSummary> {
  const { mailbox } = login;
  if (wanted.inReplyTo !== undefined && wanted.forwards !== undefined)
    throw invalid('forwards', '`forwards` cannot be combined with `inReplyTo`');
  if (claim) await requireFreeKey(app, claim);
  const answers =
    wanted.inReplyTo === undefined
      ? undefined
      : await readOriginal(app, login, { wanted, param: 'inReplyTo' });
  const forwards =
    wanted.forwards === undefined ? undefined : await readOriginal(app, login, { wanted, param: 'forwards' });
  const original = answers ?? forwards;
  const facts = original && readHeaderFacts(original.content.fields);
  const from = await readFrom(app, { mailbox, ...wanted }, facts);
  const recipients = await readRecipients(app, { mailbox, ...wanted }, answers && facts);
  const drawn = `M${randomText()}`;
  const octets = composeDraft({
    from,
    ...recipients,
    bcc: readMailboxes('bcc', wanted.bcc ?? []),
    subject: wanted.subject ?? subjectFor(facts, answers ? 'Re' : 'Fwd'),
    ...textsOf(wanted, { answers, forwards }),
    messageId: `${drawn}@${from.domain}`,
    date: app.clock.now(),
    answers,
    forwards,
  });
  const id = claim ? await claimDraftId(app, claim, drawn) : drawn;
  const { quotaBytes } = mailbox;
  return app.access.call(mailbox, 'addDraft', { id, octets: new Uint8Array(octets), quotaBytes });
}

function textsOf(
  { text, html, quote = true, forwardAs }: NewDraft,
  { answers, forwards }: { answers: Original | undefined; forwards: Original | undefined },
) {
  if (answers && quote) return withQuote({ text, html }, answers, 'reply');
  if (forwards && forwardAs !== 'attachment') return withQuote({ text, html }, forwards, 'forward');
  return { text, html };
}

/** Reads the message that a draft answers or forwards. Its files are read when they are forwarded with it. */
async function readOriginal(
  app: DraftApp,
  { mailbox }: Login,
  { wanted, param }: { wanted: NewDraft; param: 'inReplyTo' | 'forwards' },
): Promise<Original> {
  const id = wanted[param] ?? '';
  const message = await app.access.call(mailbox, 'get', { id }).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    throw invalid(param, `\`${param}\` must be the id of a message of the mailbox`);
  });
  const isForward = param === 'forwards';
  if (isForward && message.sizeBytes > MAX_DRAFT_BYTES)
    throw new AppError('payload_too_large', 'The message is too large to be forwarded');
  const stored = { mailbox, message };
  const isWhole = isForward && wanted.forwardAs === 'attachment';
  const content = await parseStored(app, stored, { upToBytes: isForward && !isWhole ? MAX_DRAFT_BYTES : 0 });
  if (!isWhole) return { content };
  const pieces: Uint8Array[] = [];
  for await (const piece of openBytes(app.access, stored).chunks()) pieces.push(piece);
  return { content, bytes: Buffer.concat(pieces) };
}

/** Returns the author: the address that is asked for, that which the original was written to, or that of the mailbox. */
async function readFrom(
  { db }: DraftApp,
  { mailbox, from }: Pick<Login, 'mailbox'> & Pick<NewDraft, 'from'>,
  facts: HeaderFacts | undefined,
): Promise<Mailbox> {
  const name = mailbox.displayName ?? undefined;
  if (from !== undefined) {
    const given = parseMailbox(from);
    if (given && (await mayUseAddress(db.read, mailbox, given.address)))
      return given.name === undefined && name !== undefined ? { ...given, name } : given;
    throw invalid('from', '`from` must be an address of the mailbox');
  }
  for (const one of readableMailboxes([...(facts?.to ?? []), ...(facts?.cc ?? [])]).slice(0, 20))
    if (await mayUseAddress(db.read, mailbox, one.address))
      return { ...one, ...(name !== undefined && { name }) };
  const own = parseMailbox(mailbox.address);
  if (!own) throw new Error('the mailbox has no address');
  return { ...own, ...(name !== undefined && { name }) };
}

type Recipients = { to: Mailbox[]; cc: Mailbox[] };

async function readRecipients(
  { db }: DraftApp,
  { mailbox, to, cc, replyAll = false }: Pick<Login, 'mailbox'> & Pick<NewDraft, 'to' | 'cc' | 'replyAll'>,
  answered: HeaderFacts | undefined,
): Promise<Recipients> {
  const given = { to: to && readMailboxes('to', to), cc: cc && readMailboxes('cc', cc) };
  if (!answered) return { to: given.to ?? [], cc: given.cc ?? [] };
  const isOwn = (one: Mailbox) => mayUseAddress(db.read, mailbox, one.address);
  const answerTo = answered.replyTo.length > 0 ? answered.replyTo : answered.from;
  const authors = readableMailboxes(answerTo.slice(0, MAX_RECIPIENTS));
  const [author] = authors;
  // Whoever answers a message of their own writes to its recipients once more.
  const asked =
    author && (await isOwn(author)) ? readableMailboxes(answered.to.slice(0, MAX_RECIPIENTS)) : authors;
  const main = given.to ?? asked;
  if (!replyAll) return { to: main, cc: given.cc ?? [] };
  const taken = new Set(main.map(({ address }) => addressKey(address)));
  const others: Mailbox[] = [];
  for (const one of readableMailboxes([...answered.to, ...answered.cc].slice(0, MAX_RECIPIENTS))) {
    if (others.length + main.length >= MAX_RECIPIENTS) break;
    if (taken.has(addressKey(one.address)) || (await isOwn(one))) continue;
    taken.add(addressKey(one.address));
    others.push(one);
  }
  return { to: main, cc: given.cc ?? others };
}

function readMailboxes(param: string, texts: readonly string[]): Mailbox[] {
  return texts.map((text, index) => {
    const mailbox = parseMailbox(text);
    if (mailbox) return mailbox;
    throw invalid(
      `${param}[${index}]`,
      `\`${param}[${index}]\` must be an address, such as Ann <ann@example.com>`,
    );
  });
}

function subjectFor(facts: HeaderFacts | undefined, prefix: 'Re' | 'Fwd'): string {
  if (!facts) return '';
  const plain = facts.subject.replace(/[\p{Cc}\p{Cs}]+/gu, ' ').slice(0, 900);
  return new RegExp(`^${prefix}:`, 'i').test(plain) ? plain : `${prefix}: ${plain}`;
}

/**
 * Sends a draft, files it as sent, and marks the message that it answers. A draft that was sent before is not sent again.
 * @throws AppError not_found; invalid_state for a message that is no draft, or has no recipients; the errors of `handOver`
 */
export async function sendDraft(
  app: DraftApp,
  login: Login,
  { id, request }: { id: string; request: FastifyRequest },
): Promise<MessageSummary> {
  const { mailbox } = login;
  const { tenantId, mode } = callerOf(request);
  const now = app.clock.now();
  const message = await app.access.call(mailbox, 'get', { id });
  const owner = { tenantId, mode, now };
  const claim = claimOf(mailbox.id, id, now);
  if (!(await findReplay(app.db.read, owner, claim))) {
    if (!message.flags.includes('\\Draft')) throw new AppError('invalid_state', 'Only a draft can be sent');
    const { from, recipients } = await readEnvelope(app, login, message);
    await handOver(app, login, {
      address: request.clientAddress,
      from,
      recipients,
      body: openBytes(app.access, { mailbox, message }).chunks(),
      sizeBytes: message.sizeBytes,
      once: { owner, claim },
    });
  }
  return app.access.call(mailbox, 'fileSent', { id });
}

/** Keys of requests have no line feed, so that they never are this one. */
function claimOf(mailboxId: string, id: string, now: number): IdempotencyClaim {
  return { key: `draft\n${mailboxId}\n${id}`, requestHash: id, expiresAt: now + SENT_REMEMBERED_MS };
}

async function readEnvelope(
  app: DraftApp,
  { mailbox }: Login,
  message: MessageSummary,
): Promise<{ from: string; recipients: string[] }> {
  const { fields } = await parseStored(app, { mailbox, message }, { upToBytes: 0 });
  const { from, to, cc } = readHeaderFacts(fields);
  const [author] = readableMailboxes(from);
  if (!author) throw new AppError('invalid_state', 'The draft has no author in From');
  const recipients: string[] = [];
  for (const text of [...to, ...cc, ...listMailboxes(fields, 'bcc')]) {
    const recipient = parseMailbox(text);
    if (!recipient) throw new AppError('invalid_state', 'The draft has a recipient that is no address');
    recipients.push(recipient.address);
  }
  if (recipients.length === 0) throw new AppError('invalid_state', 'The draft has no recipients');
  return { from: author.address, recipients };
}
