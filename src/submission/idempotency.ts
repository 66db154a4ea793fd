/**
 * Reads X-Service-Idempotency-Key, by which an application can hand over a message again without sending it twice. A message that is handed
 * over again may have another Date and another Message-ID, since some programs write them anew.
 */
import { createHash } from 'node:crypto';
import type { App } from '../app.ts';
import { IDEMPOTENCY_WINDOW_MS, readIdempotencyKeys } from '../emails/idempotency/key.ts';
import type { IdempotencyClaim } from '../emails/idempotency/store.ts';
import { addressKey } from '../mail/address.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { IDEMPOTENCY_FIELD } from './header.ts';
import type { Submission } from './user.ts';

const REWRITTEN_FIELDS: ReadonlySet<string> = new Set(['date', 'message-id', 'received']);

/**
 * Returns the claim of a message; undefined when it has no key.
 * @throws AppError validation_error for an unusable key
 */
export function readClaim(
  { clock }: Pick<App, 'clock'>,
  { domainId }: Pick<Caller, 'domainId'>,
  submission: Submission,
): IdempotencyClaim | undefined {
  const given = readIdempotencyKeys(submission.header.options.get(IDEMPOTENCY_FIELD) ?? []);
  if (given === undefined) return undefined;
  return {
    // Keys of one domain have Idempotency-Keys of their own, as in the API.
    key: domainId === null ? given : `${domainId}\n${given}`,
    requestHash: hashSubmission(submission),
    expiresAt: clock.now() + IDEMPOTENCY_WINDOW_MS,
  };
}

function hashSubmission({ envelope, recipients, header, givenHash }: Submission): string {
  const addresses = recipients.map(({ address }) => addressKey(address)).sort();
  const fields = header.fields.filter(({ name }) => !REWRITTEN_FIELDS.has(name)).map(({ text }) => text);
  // A hold counts as it was asked for, because that for a time ends later each time.
  const { hold = null, requireTls } = envelope;
  const parts = [addressKey(envelope.address), addresses, fields, givenHash, hold, requireTls];
  return createHash('sha256')
    .update(`SMTP ${JSON.stringify(parts)}`)
    .digest('hex');
}
