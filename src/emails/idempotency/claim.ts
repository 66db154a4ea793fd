/** Reads the claim of a request on its Idempotency-Key: the key, and a hash of what the request asks for. */
import type { FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import { givenBodyOf } from '../../http/json/given-body.ts';
import { detachedOf } from '../../http/json/large-strings.ts';
import { createPause } from '../../system/slices.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { isStrictBatch } from '../batch-mode.ts';
import { hashJson, hashRequest, IDEMPOTENCY_WINDOW_MS, readIdempotencyKey } from './key.ts';
import type { IdempotencyClaim } from './store.ts';

/**
 * Returns the claim of a request for one email; undefined without a key. It expires after `IDEMPOTENCY_WINDOW_MS`.
 * @throws AppError validation_error for an unusable key
 */
export async function readSendClaim(
  app: Pick<App, 'clock'>,
  request: FastifyRequest,
): Promise<IdempotencyClaim | undefined> {
  const body = givenBodyOf(request);
  return readClaim(app, request, () =>
    hashRequest({ method: 'POST', path: '/v1/emails', body }, detachedOf(request).hash),
  );
}

/**
 * Returns the claim of a request for a batch of emails; undefined without a key. Emails are hashed one by one, because
 * hashing all of them at once would block the event loop.
 * @throws AppError validation_error for an unusable key
 */
export async function readBatchClaim(
  app: Pick<App, 'clock'>,
  request: FastifyRequest<{ Body: { emails: readonly unknown[] } }>,
): Promise<IdempotencyClaim | undefined> {
  return readClaim(app, request, async () => {
    const { hash } = detachedOf(request);
    const pause = createPause(app.clock);
    const given = givenBodyOf(request);
    // A client of another API may send the list itself.
    const isList = Array.isArray(given);
    const emails: string[] = [];
    for (const email of isList ? given : request.body.emails) {
      await pause();
      emails.push(hashJson(email, hash));
    }
    const body = isList ? emails : { ...request.body, emails };
    // A strict batch is another request than one that sends what it can.
    const path = isStrictBatch(request) ? '/v1/emails/batch strict' : '/v1/emails/batch';
    return hashRequest({ method: 'POST', path, body }, hash);
  });
}

/**
 * API keys of a tenant share their Idempotency-Keys. API keys that are limited to one domain have separate
 * Idempotency-Keys for each domain: such an API key must neither see the answers of others nor leave a refusal for them.
 * No header value contains a line feed, so the two kinds never collide.
 */
async function readClaim(
  { clock }: Pick<App, 'clock'>,
  request: FastifyRequest,
  hash: () => string | Promise<string>,
): Promise<IdempotencyClaim | undefined> {
  const given = readIdempotencyKey(request.raw.rawHeaders);
  if (given === undefined) return undefined;
  const { domainId } = callerOf(request);
  return {
    key: domainId === null ? given : `${domainId}\n${given}`,
    requestHash: await hash(),
    expiresAt: clock.now() + IDEMPOTENCY_WINDOW_MS,
  };
}
