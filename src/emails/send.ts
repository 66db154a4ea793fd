/**
 * Accepts an email (specification 4.1): it reads the request, answers a repeated one, prepares the email, commits it
 * in one transaction, hands its texts to those who deliver, and wakes them.
 */
import type { Detached } from '../http/json/large-strings.ts';
import type { HandOver } from '../queue/contents/handed.ts';
import { createPacking } from '../queue/contents/source.ts';
import type { Caller, RequireValidKey } from '../tenants/authenticate.ts';
import { acceptEmail, type Sent } from './accept.ts';
import { commitStored } from './commit.ts';
import { answerOnce, type InFlight } from './idempotency/in-flight.ts';
import type { Answer, IdempotencyClaim } from './idempotency/store.ts';
import { type PrepareApp, prepareEmail } from './prepare.ts';
import type { HoldText } from './render.ts';
import { readSendRequest } from './request.ts';
import type { SendBody } from './schemas.ts';

export type SendApp = PrepareApp & { inFlight: InFlight; handOver: HandOver };

type Send = {
  body: SendBody;
  /** Attachments that were taken out of the body. */
  detached: Detached;
  /** Claim on the Idempotency-Key of the request; undefined when it has none. */
  idempotency: IdempotencyClaim | undefined;
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
  { body, detached, idempotency, holdText, requireValidKey }: Send,
): Promise<Answer<Sent>> {
  const request = readSendRequest(body, { findContent: detached.find, now: app.clock.now() });
  return answerOnce(app, { caller, claim: idempotency }, async () => {
    const rows = await prepareEmail(app, caller, { request, holdText, pack: createPacking() });
    const input = { rows, idempotency };
    const prepared = { rows: [rows], acceptedRows: () => [rows], requireValidKey };
    return commitStored(app, { write: acceptEmail, input }, prepared);
  });
}
