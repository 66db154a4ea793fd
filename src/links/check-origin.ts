/**
 * Checks that the public pages answer at their address, as a reader would ask for them. A broadcast whose links lead nowhere
 * cannot be unsubscribed from, and nobody notices before it is sent.
 */
import type { App } from '../app.ts';
import { createTargetGuard, RefusedTargetError } from '../system/blocklist.ts';
import { isLocalName } from '../system/dns.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { linksOrigin } from './origin.ts';

/** The result of a check. */
type OriginState =
  | { kind: 'answers' }
  /** The address works on this machine only, because the daemon has no host name. */
  | { kind: 'local' }
  /** The name leads to a private network, or nowhere. */
  | { kind: 'private' }
  | { kind: 'silent'; reason: string };

export type OriginCheck = {
  /** Address of the public pages, such as `https://track.mx.example.com`. */
  origin: string;
  /** Asks at the address, or returns what was found a moment ago. It never rejects. */
  check(): Promise<OriginState>;
};

/** Maximum time of one request, in milliseconds. */
const TIMEOUT_MS = 5_000;
/** Time for which a result is remembered, in milliseconds: callers must not make the daemon ask as often as they like. */
const REMEMBERED_MS = 60_000;
/** Path without a page. The answer has the id of the request, by which an answer of a daemon like this one is recognised. */
const ASKED_PATH = '/u/-';
const MAX_RESPONSE_BYTES = 64 * 1024;

type CheckApp = Pick<App, 'clock' | 'config' | 'dns' | 'fetch'>;

/** Returns the check of the public pages of an installation. */
export function createOriginCheck(app: CheckApp): OriginCheck {
  const origin = linksOrigin(app.config);
  let last: { at: number; state: Promise<OriginState> } | undefined;
  return {
    origin,
    check() {
      const now = app.clock.elapsed();
      if (last === undefined || now - last.at >= REMEMBERED_MS) last = { at: now, state: ask(app, origin) };
      return last.state;
    },
  };
}

async function ask(app: CheckApp, origin: string): Promise<OriginState> {
  const { hostname } = new URL(origin);
  if (isLocalName(hostname)) return { kind: 'local' };
  try {
    const { status, headers } = await app.fetch({
      method: 'GET',
      url: `${origin}${ASKED_PATH}`,
      headers: {},
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
    });
    if (/^req_/.test(String(headers['x-request-id']))) return { kind: 'answers' };
    return { kind: 'silent', reason: `another server answers there, with status ${status}` };
  } catch (error) {
    // The error of several failed addresses has no message of its own.
    const reason = errorMessage(error) || (errorCode(error) ?? 'no connection');
    if (!(error instanceof RefusedTargetError)) return { kind: 'silent', reason };
    // The daemon does not connect to its own addresses. A public one among them is where readers reach it.
    return (await hasPublicAddress(app, hostname)) ? { kind: 'answers' } : { kind: 'private' };
  }
}

/** Returns true when the name has an address that can be reached over the Internet. */
async function hasPublicAddress({ dns }: Pick<App, 'dns'>, hostname: string): Promise<boolean> {
  const guard = createTargetGuard({ allow: [], own: [] });
  const answers = await Promise.all([dns.a(hostname), dns.aaaa(hostname)]);
  return answers.some((answer) => answer.kind === 'found' && answer.records.some(guard.allows));
}
