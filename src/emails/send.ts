/**
 * Accepting an email (specification 4.1). Its steps in order: read the request, answer a repeat, find the sender's
 * domain, render, gather the attachments, write the message and make its bytes durable, commit everything in one
 * transaction, wake the workers.
 */
import type { App } from '../app.ts';
import { getSendingDomain, isSimulatorDomain } from '../domains/sender.ts';
import type { Detached } from '../http/large-strings.ts';
import { invalid } from '../system/errors.ts';
import { isId, newId } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { findTopic } from '../topics/store.ts';
import { acceptanceOf } from './acceptance.ts';
import type { Downloads } from './download.ts';
import { type Accepted, findReplay, type IdempotencyClaim } from './idempotency/store.ts';
import { hashRequest, IDEMPOTENCY_WINDOW_MS } from './idempotency.ts';
import type { InFlight } from './in-flight.ts';
import { loadAttachments } from './load-attachments.ts';
import { storeMessage } from './message.ts';
import { renderContent } from './render.ts';
import { envelopeRecipients } from './request/addresses.ts';
import { type EmailRequest, readSendRequest } from './request.ts';
import type { SendBody } from './schemas.ts';
import { acceptEmail } from './store.ts';

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
  const attachments = await loadAttachments(app, request.attachments);
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
    ...{ id, messageId, now, request, recipients, simulatorOnly, domainId },
    ...{ content, attachments, stored, idempotency },
  });
  const accepted = await app.db.commit(acceptEmail, acceptance);
  app.crashPoint('accept-after-commit');
  app.notices.notify('queue');
  app.notices.notify('events');
  return accepted;
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
