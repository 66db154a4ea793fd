/**
 * Finds out to whom a request counts, before its body is read: to the person or the mailbox of its session, and otherwise to the network of
 * its client. So strangers take nothing from those who are logged in, and one of these takes nothing from another.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { App } from '../app.ts';
import type { SessionRow } from '../db/people-tables.ts';
import { channelOf } from '../http/transport/channel.ts';
import { addressSite } from '../system/address-block.ts';
import { AppError } from '../system/errors.ts';
import { createTokenBuckets } from '../system/guards/token-buckets.ts';
import { readCookie } from './people/cookie.ts';
import type { People } from './people/people.ts';

const sessionField = Symbol('session');

declare module 'fastify' {
  interface FastifyRequest {
    [sessionField]: SessionRow | undefined;
  }
}

/**
 * Number of requests that a person may make in a second, and at once. A page makes several requests to the API, which a plan limits for each
 * key, so this bounds what a session adds to that. Our own limit.
 */
const PERSON_RATE = { tokensPerSecond: 50, burst: 1_000 };
/** Maximum number of people whose requests are counted. */
const MAX_COUNTED = 10_000;

type VisitorApp = Pick<App, 'clock' | 'config'> & { people: Pick<People, 'find'> };

/** Reads the session of every request to the server, and limits how many requests each person makes. */
export function identifyVisitors(server: FastifyInstance, { clock, config, people }: VisitorApp): void {
  const rates = createTokenBuckets(clock, MAX_COUNTED);
  server.decorateRequest(sessionField, undefined);
  server.addHook('onRequest', async (request) => {
    const channel = channelOf(request, config.http.trustedProxies);
    const token = readCookie(request, channel, 'session');
    const session = token === undefined ? undefined : await people.find(token);
    if (session?.stage !== 'complete') return;
    request[sessionField] = session;
    if (!rates.take(holderOf(request), PERSON_RATE).allowed)
      throw new AppError('rate_limited', 'Too many pages were asked for', { retryAfterSeconds: 1 });
  });
}

/** Returns the session of a request whose login is complete. */
export function sessionOfRequest(request: FastifyRequest): SessionRow | undefined {
  return request[sessionField];
}

/** Returns who has the share of memory that a request takes. */
export function holderOf(request: FastifyRequest): string {
  const session = request[sessionField];
  return session?.personId ?? session?.mailboxId ?? addressSite(request.clientAddress);
}
