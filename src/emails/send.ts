/**
 * Accepts an email (specification 4.1): it reads the request, answers a repeated one, prepares the email, commits it
 * in one transaction and wakes the workers.
 */
import type { Detached } from '../http/large-strings.ts';
import type { Caller, RequireValidKey } from '../tenants/authenticate.ts';
import { acceptEmail, type Sent } from './accept.ts';
import { type CommitApp, commitStored } from './commit.ts';
import { answerOnce, claimKey, type OnceApp } from './idempotency/run.ts';
import type { Answer } from './idempotency/store.ts';
import { hashRequest } from './idempotency.ts';
import { type PrepareApp, prepareEmail } from './prepare.ts';
import type { HoldText } from './render.ts';
import { readSendRequest } from './request.ts';
import type { SendBody } from './schemas.ts';

export type SendApp = OnceApp & PrepareApp & CommitApp;

export type Send = {
  body: SendBody;
  /** Attachments that were taken out of the body. */
  detached: Detached;
  idempotencyKey: string | undefined;
  holdText: HoldText;
  requireValidKey: RequireValidKey;
};

/**
 * Accepts an email and returns its id, or the recorded answer of a repeated request.
 * @throws AppError validation_error, idempotency_conflict, idempotency_in_progress, invalid_api_key,
 * restricted_api_key, domain_not_verified, suppressed_recipient, quota_exceeded, unavailable
 */
export async function sendEmail(
  app: SendApp,
  caller: Caller,
  { body, detached, idempotencyKey, holdText, requireValidKey }: Send,
): Promise<Answer<Sent>> {
  const now = app.clock.now();
  const request = readSendRequest(body, { findContent: detached.find, now });
  const hash = () => hashRequest({ method: 'POST', path: '/v1/emails', body }, detached.hash);
  const idempotency =
    idempotencyKey === undefined ? undefined : claimKey(caller, { key: idempotencyKey, hash: hash() }, now);
  return answerOnce(app, caller, idempotency, async () => {
    const rows = await prepareEmail(app, caller, request, { holdText });
    const prepared = { rows: [rows], takenBy: () => [rows], requireValidKey };
    return commitStored(app, acceptEmail, { rows, idempotency }, prepared);
  });
}
