/**
 * Tracks running requests with an Idempotency-Key. An identical request gets the answer or the refusal of the running
 * one; a different request with the same key waits until that one has ended. The transaction that accepts email
 * (accept.ts) makes this safe; this module only avoids doing the work twice.
 */
import type { App } from '../../app.ts';
import { type Clock, TimeoutError, withTimeout } from '../../system/clock.ts';
import { AppError } from '../../system/errors.ts';
import type { Caller } from '../../tenants/authenticate.ts';
import { type Answer, findReplay, type IdempotencyClaim } from './store.ts';

/** Maximum time that a request waits for another one with the same key. */
export const WAIT_MS = 10_000;

/** `scope` identifies the Idempotency-Key and its owner. */
type Flight = { scope: string; requestHash: string };

export type InFlight = {
  /**
   * Runs the work, or returns the answer of an identical request.
   * @throws AppError idempotency_in_progress when another request with this key runs for too long; any error of
   * `work`
   */
  run<Response>(flight: Flight, work: () => Promise<Answer<Response>>): Promise<Answer<Response>>;
};

/**
 * Returns the answer of an earlier request with this key, or runs `accept`.
 * @throws AppError idempotency_conflict, idempotency_in_progress; any error of `accept`
 */
export async function answerOnce<Response>(
  app: Pick<App, 'db' | 'clock'> & { inFlight: InFlight },
  { caller, claim }: { caller: Caller; claim: IdempotencyClaim | undefined },
  accept: () => Promise<Answer<Response>>,
): Promise<Answer<Response>> {
  if (!claim) return accept();
  const { tenantId, mode } = caller;
  const { key, requestHash } = claim;
  const scope = JSON.stringify([tenantId, mode, key]);
  return app.inFlight.run({ scope, requestHash }, async () => {
    const replay = await findReplay<Response>(app.db.read, { tenantId, mode, now: app.clock.now() }, claim);
    return replay ?? accept();
  });
}

type Ended = { answer: Answer<unknown> } | { error: unknown };
type Running = { requestHash: string; ended: Promise<Ended> };

/** Returns the table of running requests. It lives as long as the server. */
export function createInFlight(clock: Clock): InFlight {
  const running = new Map<string, Running>();
  return {
    async run<Response>({ scope, requestHash }: Flight, work: () => Promise<Answer<Response>>) {
      const deadline = clock.elapsed() + WAIT_MS;
      for (let other = running.get(scope); other; other = running.get(scope)) {
        const limit = { timeoutMs: deadline - clock.elapsed(), what: 'another request' };
        const end = await withTimeout(clock, other.ended, limit).catch(asRefusal);
        if (other.requestHash !== requestHash) continue;
        if ('error' in end && isOfItsApiKey(end.error)) continue;
        if ('error' in end) throw end.error;
        return { response: end.answer.response as Response, replayed: true };
      }
      const answer = work();
      const ended = answer.then(
        (value): Ended => ({ answer: value }),
        (error: unknown): Ended => ({ error }),
      );
      running.set(scope, { requestHash, ended });
      try {
        return await answer;
      } finally {
        running.delete(scope);
      }
    },
  };
}

/** Returns true for a refusal that concerns one API key: another key with the same request may be allowed. */
function isOfItsApiKey(error: unknown): boolean {
  return error instanceof AppError && ['invalid_api_key', 'restricted_api_key'].includes(error.code);
}

function asRefusal(error: unknown): never {
  if (!(error instanceof TimeoutError)) throw error;
  throw new AppError('idempotency_in_progress', 'A request with this Idempotency-Key is still running', {
    param: 'Idempotency-Key',
    retryAfterSeconds: 1,
    cause: error,
  });
}
