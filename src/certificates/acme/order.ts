/**
 * One order of a certificate for one name, from the request to the chain (RFC 8555 section 7.4). An order that was begun
 * is continued, so that a crash in the middle costs nothing but time.
 */
import type { App } from '../../app.ts';
import { sleep } from '../../system/clock.ts';
import { type Certificate, parseCertificate } from '../certificate.ts';
import { AcmeError, problemError } from './acme-error.ts';
import { type Authority, type Reply, recordOf, requireUrl, type Signer, textsOf } from './authority.ts';
import { keyAuthorizationOf } from './jose.ts';
import type { Challenge, Solver } from './solver.ts';

/** The account that orders. */
export type Account = Signer & { accountUrl: string };

type OrderRequest = {
  name: string;
  /** Key of the certificate, in PEM. */
  keyPem: string;
  /** URL of an order that was begun earlier; null to begin one. */
  orderUrl: string | null;
  /** Profile to ask for; empty for that of the authority. */
  profile: string;
  /** Identifier of the certificate that this one replaces (RFC 9773 section 5); undefined when there is none. */
  replaces: string | undefined;
  /** Ways to prove the name, in the order in which they are tried. */
  solvers: readonly Solver[];
  signal: AbortSignal;
  /** Stores the URL of a new order before anything else is done with it. */
  keepUrl(orderUrl: string): Promise<void>;
};

type OrderApp = Pick<App, 'clock'> & { authority: Authority; account: Account };

/** Maximum time for which one order is waited for in one go, in milliseconds. A later run continues it. */
const MAX_WAIT_MS = 120_000;
/** Wait between two looks at a resource whose authority names none, in milliseconds, and the bounds of one that it names. */
const DEFAULT_POLL_MS = 3_000;
const MIN_POLL_MS = 1_000;
const MAX_POLL_MS = 30_000;
/** Maximum number of authorizations of an order. One for one name has one. */
const MAX_AUTHORIZATIONS = 10;
const HTTP_NOT_FOUND = 404;

/**
 * Orders a certificate, and returns it when it is for this name and key and valid now.
 * @throws AcmeError
 */
export async function orderCertificate(app: OrderApp, request: OrderRequest): Promise<Certificate> {
  const begun = request.orderUrl === null ? undefined : await findOrder(app, request.orderUrl);
  const order = begun ?? (await beginOrder(app, request));
  const ready = order.status === 'pending' ? await proveName(app, request, order) : order;
  const valid = ready.status === 'valid' ? ready : await finish(app, request, ready);
  const url = requireUrl(valid.certificate, app.authority.directoryUrl, 'the certificate');
  const { text } = await app.authority.post(app.account, url, { doing: 'the certificate' });
  return checkCertificate(request, text, app.clock.now());
}

type Order = {
  url: string;
  status: string;
  authorizations: readonly string[];
  finalize: string;
  certificate: unknown;
  error: unknown;
  retryAfterMs: number | undefined;
};

/** Returns an order that was begun earlier; undefined when the authority no longer has it, or it has come to nothing. */
async function findOrder(app: OrderApp, url: string): Promise<Order | undefined> {
  try {
    const order = await readOrder(app, url);
    return order.status === 'invalid' ? undefined : order;
  } catch (error) {
    if (error instanceof AcmeError && isGone(error)) return undefined;
    throw error;
  }
}

/** Returns true when the authority has no such order: a status of 404, or the URL makes no sense to it (RFC 8555 section 6.7). */
function isGone({ status, type }: AcmeError): boolean {
  return status === HTTP_NOT_FOUND || type === 'malformed';
}

async function beginOrder(app: OrderApp, request: OrderRequest): Promise<Order> {
  const { newOrder } = await app.authority.directory();
  const reply = await postOrder(app, newOrder, request);
  const url = requireUrl(reply.location, app.authority.directoryUrl, 'the order');
  await request.keepUrl(url);
  return toOrder(app, url, reply);
}

async function postOrder(
  { authority, account }: OrderApp,
  url: string,
  { name, profile, replaces }: OrderRequest,
): Promise<Reply> {
  const payload = { identifiers: [{ type: 'dns', value: name }], ...(profile !== '' && { profile }) };
  const doing = `an order for ${name}`;
  if (replaces === undefined) return authority.post(account, url, { doing, payload });
  try {
    return await authority.post(account, url, { doing, payload: { ...payload, replaces } });
  } catch (error) {
    // Only the limits of the authority depend on the mark, so an order without it is better than none.
    const isRefusal =
      error instanceof AcmeError && ['alreadyReplaced', 'malformed', 'serverInternal'].includes(error.type);
    if (!isRefusal) throw error;
    return authority.post(account, url, { doing, payload });
  }
}

/** Proves control of the name, and returns the order once the authority is convinced. */
async function proveName(app: OrderApp, request: OrderRequest, order: Order): Promise<Order> {
  await using offers = new AsyncDisposableStack();
  for (const url of order.authorizations) await answerChallenge(app, { request, url, offers });
  // The answers stay until the authority has looked at them.
  return await waitFor(app, request, {
    read: () => readOrder(app, order.url),
    isDone: ({ status }) => status !== 'pending',
    async onInvalid(failed) {
      for (const url of order.authorizations) await throwChallengeError(app, url);
      throw problemError(`the order for ${request.name}`, failed.error);
    },
  });
}

type Answer = { request: OrderRequest; url: string; offers: AsyncDisposableStack };

async function answerChallenge(app: OrderApp, { request, url, offers }: Answer): Promise<void> {
  const { authority, account } = app;
  const { body } = await authority.post(account, url, { doing: 'an authorization' });
  const authorization = recordOf(body);
  if (authorization['status'] !== 'pending') return;
  const challenges = readChallenges(authorization, authority.directoryUrl);
  for (const solver of request.solvers) {
    const challenge = challenges.find(({ type }) => type === solver.type);
    if (challenge === undefined) continue;
    const keyAuthorization = keyAuthorizationOf(challenge.token, account.key);
    const { accountUrl } = account;
    const { name, signal } = request;
    const offer = await solver.offer({ name, challenge, keyAuthorization, accountUrl, signal });
    if (offer === undefined) continue;
    offers.use(offer);
    // A challenge that is being processed was answered before, by a run that has ended.
    if (challenge.status === 'pending')
      await authority.post(account, challenge.url, { doing: `the challenge ${challenge.type}`, payload: {} });
    return;
  }
  const offered = challenges.map(({ type }) => type).join(', ');
  const known = request.solvers.map(({ type }) => type).join(', ');
  throw new AcmeError(
    'noChallenge',
    `the name cannot be proven: the authority offers ${offered || 'no challenge'}, and usable here are ${known}`,
  );
}

function readChallenges(authorization: Readonly<Record<string, unknown>>, base: string): Challenge[] {
  const list = Array.isArray(authorization['challenges']) ? authorization['challenges'] : [];
  return list.map(recordOf).flatMap(({ type, url, status, token, ...fields }) => {
    if (typeof type !== 'string') return [];
    return [
      {
        type,
        url: requireUrl(url, base, 'a challenge'),
        status: String(status),
        token: typeof token === 'string' ? token : '',
        issuers: textsOf(fields['issuer-domain-names']),
      },
    ];
  });
}

/** Throws the error of the challenge that failed. Without one, it returns. */
async function throwChallengeError({ authority, account }: OrderApp, url: string): Promise<void> {
  const { body } = await authority.post(account, url, { doing: 'an authorization' });
  const list = recordOf(body)['challenges'];
  for (const challenge of Array.isArray(list) ? list.map(recordOf) : [])
    if (challenge['error'] !== undefined)
      throw problemError(`the challenge ${String(challenge['type'])}`, challenge['error']);
}

/** Sends the request for the certificate, and waits until it is issued. */
async function finish(app: OrderApp, request: OrderRequest, order: Order): Promise<Order> {
  if (order.status === 'ready') {
    const { createSigningRequest } = await import('./signing-request.ts');
    const csr = await createSigningRequest(request.name, request.keyPem);
    await app.authority.post(app.account, order.finalize, {
      doing: `the request for ${request.name}`,
      payload: { csr },
    });
  }
  return waitFor(app, request, {
    read: () => readOrder(app, order.url),
    isDone: ({ status }) => status === 'valid',
    onInvalid: async ({ error }) => {
      throw problemError(`the order for ${request.name}`, error);
    },
  });
}

type Waiting = {
  read(): Promise<Order>;
  isDone(order: Order): boolean;
  /** Throws the reason why the order has come to nothing. */
  onInvalid(order: Order): Promise<never>;
};

/** Reads the order until it is done. @throws AcmeError, also when the time is up or the run is to end */
async function waitFor(
  { clock }: OrderApp,
  { name, signal }: OrderRequest,
  waiting: Waiting,
): Promise<Order> {
  const startedAt = clock.elapsed();
  for (;;) {
    const order = await waiting.read();
    if (order.status === 'invalid') return waiting.onInvalid(order);
    if (waiting.isDone(order)) return order;
    const pollMs = Math.min(Math.max(order.retryAfterMs ?? DEFAULT_POLL_MS, MIN_POLL_MS), MAX_POLL_MS);
    if (clock.elapsed() - startedAt + pollMs > MAX_WAIT_MS)
      throw new AcmeError('slow', `the authority is still busy with the order for ${name} (${order.status})`);
    await sleep(clock, pollMs, signal);
    signal.throwIfAborted();
  }
}

async function readOrder(app: OrderApp, url: string): Promise<Order> {
  return toOrder(app, url, await app.authority.post(app.account, url, { doing: 'an order' }));
}

function toOrder(
  { authority: { directoryUrl } }: OrderApp,
  url: string,
  { body, retryAfterMs }: Reply,
): Order {
  const { status, authorizations, finalize, certificate, error } = recordOf(body);
  return {
    url,
    status: String(status),
    authorizations: textsOf(authorizations)
      .slice(0, MAX_AUTHORIZATIONS)
      .map((one) => requireUrl(one, directoryUrl, 'an authorization')),
    finalize: requireUrl(finalize, directoryUrl, 'the end of an order'),
    certificate,
    error,
    retryAfterMs,
  };
}

/** @throws AcmeError when the certificate is not the one that was ordered, or is not valid now */
function checkCertificate({ name, keyPem }: OrderRequest, chain: string, now: number): Certificate {
  const files = { certificate: `the certificate of ${name}`, key: `the key of ${name}` };
  const parsed = parseCertificate(files, { certificate: chain, key: keyPem });
  if ('problem' in parsed)
    throw new AcmeError('certificate', `${parsed.problem.file} ${parsed.problem.reason}`);
  const { certificate } = parsed;
  if (!certificate.names.includes(name))
    throw new AcmeError(
      'certificate',
      `the authority issued a certificate for ${certificate.names.join(', ')} instead of ${name}`,
    );
  if (certificate.validFrom > now || certificate.expiresAt <= now)
    throw new AcmeError(
      'certificate',
      `the certificate is valid from ${new Date(certificate.validFrom).toISOString()} to ${new Date(certificate.expiresAt).toISOString()}, and not now: the clock of this machine or of the authority is wrong`,
    );
  return certificate;
}
