/**
 * Accepting an email (specification 4.1). Its steps in order: read the request, answer a repeat, find the sender's
 * domain, compose, make the bytes durable, commit everything in one transaction, wake the workers.
 */
import { randomBytes } from 'node:crypto';
import type { App } from '../app.ts';
import { getSendingDomain, isSimulatorDomain } from '../domains/sender.ts';
import { addressKey } from '../mail/address.ts';
import { compose } from '../mail/message/compose.ts';
import { newId } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { hashRequest, IDEMPOTENCY_WINDOW_MS } from './idempotency.ts';
import { type EmailRequest, type EnvelopeRecipient, envelopeRecipients, readSendRequest } from './request.ts';
import type { SendBody } from './schemas.ts';
import { type Acceptance, type Accepted, acceptEmail, findReplay, type IdempotencyClaim } from './store.ts';

export type SendApp = Pick<App, 'db' | 'blobs' | 'config' | 'clock' | 'notices' | 'crashPoint'>;

/** @throws AppError validation_error, idempotency_conflict, domain_not_verified, suppressed_recipient, unavailable */
export async function sendEmail(
  app: SendApp,
  caller: Caller,
  body: SendBody,
  idempotencyKey: string | undefined,
): Promise<Accepted> {
  const now = app.clock.now();
  const request = readSendRequest(body);
  const idempotency = idempotencyKey === undefined ? undefined : claimKey(idempotencyKey, body, now);
  const replay = idempotency && (await findReplay(app.db.read, { ...caller, ...idempotency, now }));
  if (replay) return replay;

  const recipients = envelopeRecipients(request);
  const { domainId } = await getSendingDomain(app, {
    tenantId: caller.tenantId,
    mode: caller.mode,
    domain: request.from.domain,
    simulatorOnly: recipients.every((recipient) => isSimulatorDomain(app.config, recipient.domain)),
  });
  const acceptance = await prepareAcceptance(app, caller, {
    request,
    recipients,
    domainId,
    idempotency,
    now,
  });
  const accepted = await app.db.commit(acceptEmail, acceptance);
  app.crashPoint('accept-after-commit');
  app.notices.notify('queue');
  app.notices.notify('events');
  return accepted;
}

function claimKey(key: string, body: SendBody, now: number): IdempotencyClaim {
  return {
    key,
    requestHash: hashRequest('POST', '/v1/emails', body),
    expiresAt: now + IDEMPOTENCY_WINDOW_MS,
  };
}

type Prepared = {
  request: EmailRequest;
  recipients: EnvelopeRecipient[];
  domainId: Acceptance['message']['domainId'];
  idempotency: IdempotencyClaim | undefined;
  now: number;
};

const HOUR_MS = 3_600_000;
const RETURN_TOKEN_BYTES = 16;

async function prepareAcceptance(app: SendApp, caller: Caller, prepared: Prepared): Promise<Acceptance> {
  const { request, recipients, domainId, idempotency, now } = prepared;
  const { tenantId, mode } = caller;
  const id = newId('em', now);
  const rfcMessageId = `${id}@${request.from.domain}`;
  const blob = await app.blobs.prepare(
    compose({ ...request, messageId: rfcMessageId, dateMs: now, boundarySeed: id }),
  );
  return {
    recipients,
    blob,
    idempotency,
    simulatedSuppressions: recipients.map(({ address }) => address).filter(isSimulatedSuppression(app)),
    message: {
      id,
      tenantId,
      mode,
      kind: request.type,
      status: 'queued',
      sender: request.from.address,
      returnToken: randomBytes(RETURN_TOKEN_BYTES).toString('hex'),
      domainId,
      blobId: blob.id,
      signature: null,
      createdAt: now,
      expiresAt: now + app.config.delivery.transactionalMaxAgeHours * HOUR_MS,
      lastEventAt: now,
    },
    email: {
      id,
      tenantId,
      mode,
      type: request.type,
      fromHeader: request.given.from,
      fromAddress: addressKey(request.from.address),
      fromDomain: request.from.domain,
      toList: JSON.stringify(request.given.to),
      ccList: JSON.stringify(request.given.cc),
      bccList: JSON.stringify(request.given.bcc),
      replyToList: JSON.stringify(request.given.replyTo),
      subject: request.subject,
      html: request.html ?? null,
      text: request.text ?? null,
      rfcMessageId,
      createdAt: now,
    },
  };
}

/** `suppressed@simulator.<hostname>`, with or without a label. */
function isSimulatedSuppression(app: SendApp): (address: string) => boolean {
  return (address) => {
    const [local, domain] = address.split('@');
    return isSimulatorDomain(app.config, domain ?? '') && /^suppressed(\+|$)/i.test(local ?? '');
  };
}
