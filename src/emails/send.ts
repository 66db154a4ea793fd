/**
 * Accepting an email (specification 4.1). Its steps in order: read the request, answer a repeat, find the sender's
 * domain, render, ask of a large email whether it would be refused anyway, gather the attachments, write the message and make its bytes durable, commit everything in one
 * transaction, wake the workers.
 */
import type { App } from '../app.ts';
import { INLINE_BYTES } from '../blobs/blobs.ts';
import { getSendingDomain, isSimulatorDomain } from '../domains/sender.ts';
import type { Detached } from '../http/large-strings.ts';
import { AppError, invalid } from '../system/errors.ts';
import { isId, newId } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { findTopic } from '../topics/store.ts';
import { acceptanceOf, admissionOf } from './acceptance.ts';
import type { Downloads } from './download.ts';
import { type Accepted, findReplay, type IdempotencyClaim } from './idempotency/store.ts';
import { hashRequest, IDEMPOTENCY_WINDOW_MS } from './idempotency.ts';
import type { InFlight } from './in-flight.ts';
import { loadAttachments } from './load-attachments.ts';
import { storeMessage } from './message.ts';
import { type Content, renderContent } from './render.ts';
import { envelopeRecipients } from './request/addresses.ts';
import { type EmailRequest, readSendRequest } from './request.ts';
import type { SendBody } from './schemas.ts';
import { type Acceptance, acceptEmail, requireAdmission } from './store.ts';

export type SendApp = Pick<
  App,
  'db' | 'blobs' | 'config' | 'clock' | 'notices' | 'crashPoint' | 'htmlText'
> & { downloads: Downloads; inFlight: InFlight };

export type Send = {
  body: SendBody;
  /** Attachments that were taken out of the body. */
  detached: Detached;
  idempotencyKey: string | undefined;
};

/**
 * @throws AppError validation_error, idempotency_conflict, idempotency_in_progress, domain_not_verified,
 * suppressed_recipient, quota_exceeded, unavailable
 */
export async function sendEmail(app: SendApp, caller: Caller, send: Send): Promise<Accepted> {
  const now = app.clock.now();
  const request = readSendRequest(send.body, { findContent: send.detached.find, now });
  if (send.idempotencyKey === undefined) return accept(app, caller, { request, idempotency: undefined });
  const idempotency = claimKey(send, send.idempotencyKey, now);
  const scope = JSON.stringify([caller.tenantId, caller.mode, idempotency.key]);
  return app.inFlight.run(scope, async () => {
    const replay = await findReplay(app.db.read, { ...caller, ...idempotency, now });
    return replay ?? accept(app, caller, { request, idempotency });
  });
}

function claimKey({ body, detached }: Send, key: string, now: number): IdempotencyClaim {
  const request = { method: 'POST', path: '/v1/emails', body };
  return {
    key,
    requestHash: hashRequest(request, detached.hash),
    expiresAt: now + IDEMPOTENCY_WINDOW_MS,
  };
}

async function accept(
  app: SendApp,
  caller: Caller,
  { request, idempotency }: { request: EmailRequest; idempotency: IdempotencyClaim | undefined },
): Promise<Accepted> {
  const { addresses, headers, topicId } = request;
  const recipients = envelopeRecipients(addresses);
  const simulatorOnly = recipients.every(({ domain }) => isSimulatorDomain(app.config, domain));
  const { domainId } = await getSendingDomain(app, {
    ...caller,
    domain: addresses.from.domain,
    simulatorOnly,
  });
  if (topicId !== undefined) await requireTopic(app, caller.tenantId, topicId);
  const content = await renderContent(app, caller.tenantId, request.content);
  const admission = admissionOf(app.config, caller, { recipients, simulatorOnly });
  if (mayBeLarge(request, content))
    await requireAdmission(app.db.read, caller.tenantId, { ...admission, now: app.clock.now() });
  using loaded = await loadAttachments(app, caller.tenantId, request.attachments);
  const { attachments } = loaded;
  // Only now: the files took their time, and what looks for due mail does not look far back.
  const now = app.clock.now();
  const id = newId('em', now);
  const messageId = `${id}@${addresses.from.domain}`;
  const stored = await storeMessage(app, {
    ...addresses,
    ...content,
    headers,
    attachments,
    messageId,
    boundarySeed: id,
  });
  const acceptance = acceptanceOf(app.config, caller, {
    ...{ id, messageId, now, request, admission, domainId },
    ...{ content, attachments, stored, idempotency },
  });
  const accepted = await commitAcceptance(app, acceptance);
  app.crashPoint('accept-after-commit');
  app.notices.notify('queue');
  app.notices.notify('events');
  return accepted;
}

/** Text and HTML together: encoded, four times as much would be a file (blobs.ts). */
const LARGE_CHARACTERS = INLINE_BYTES / 4;

function mayBeLarge({ attachments }: EmailRequest, { html = '', text = '' }: Content): boolean {
  return attachments.length > 0 || html.length + text.length > LARGE_CHARACTERS;
}

/** Bytes that were stored for nothing, because the transaction refused or there was an answer already, go at once. */
async function commitAcceptance(app: Pick<App, 'db' | 'blobs'>, acceptance: Acceptance): Promise<Accepted> {
  try {
    const accepted = await app.db.commit(acceptEmail, acceptance);
    if (accepted.replayed) await app.blobs.discard(acceptance.blob);
    return accepted;
  } catch (error) {
    // Of anything else it is not known whether it was committed.
    if (error instanceof AppError) await app.blobs.discard(acceptance.blob);
    throw error;
  }
}

/** decisions.md 6. */
async function requireTopic(
  app: Pick<App, 'db'>,
  tenantId: Caller['tenantId'],
  topicId: string,
): Promise<void> {
  const topic = isId('top', topicId) ? await findTopic(app.db.read, tenantId, topicId) : undefined;
  if (!topic) throw invalid('topicId', '`topicId` must name an existing topic');
}
