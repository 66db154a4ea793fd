/**
 * A small authority over HTTP on loopback, for what Debian's pebble lacks (profiles, renewal information, the persistent
 * record) and for everything that an authority may do wrong. It checks each signature and each nonce, and validates
 * challenges by a function of the test.
 */
import { createHash, createHmac, createPublicKey, type JsonWebKey, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { DAY_MS } from '../../src/system/clock.ts';

export type AuthorityProblem = { status: number; type: string; detail?: string; retryAfter?: string };
export type IssuedChallenge = {
  type: string;
  name: string;
  token: string;
  keyAuthorization: string;
  accountUrl: string;
};
export type NewOrder = {
  identifiers: readonly { value: string }[];
  profile?: string;
  replaces?: string;
};

/** The answers that a test decides on. It may change all of them while the authority runs. */
export type Behaviour = {
  challengeTypes: readonly string[];
  profiles: readonly string[];
  /** Returns why a challenge fails; undefined when it succeeds. */
  validate(challenge: IssuedChallenge): Promise<string | undefined> | string | undefined;
  /** Lets time pass before each answer. */
  beforeAnswer(): Promise<void> | void;
  /** Refuses a request to a resource, such as `newOrder`; undefined for all others. */
  refuse(resource: string): AuthorityProblem | undefined;
  /** Window of the renewal information, in Unix milliseconds; undefined for an authority without it. */
  window: ((certificateId: string) => { start: number; end: number }) | undefined;
  /** Life of certificates, and the time before now at which it begins. */
  lifeMs: number;
  backdatedMs: number;
  /** Names of the certificate in place of the ordered one. */
  otherNames: readonly string[] | undefined;
  /** Number of further looks at orders at which their challenges are not yet validated. */
  busyLooks: number;
  /** Number of further requests whose nonces are lost. */
  lostNonces: number;
  externalAccount: { keyId: string; hmacKey: string } | undefined;
  now(): number;
};

type Order = {
  id: number;
  name: string;
  accountUrl: string;
  status: string;
  token: string;
  answered: string | undefined;
  error: object | undefined;
  chain: string | undefined;
};

export type AcmeAuthority = AsyncDisposable & {
  directory: string;
  behaviour: Behaviour;
  /** Resources that were asked for, in their order. */
  requests: string[];
  /** Number of connections that were opened to it. */
  connections: number;
  orders: NewOrder[];
  accounts: number;
  /** Certificate of the authority, in PEM. */
  root: string;
};

/** Object identifier of `id-ce-subjectAltName` (RFC 5280 section 4.2.1.6). */
const SUBJECT_ALT_NAME = '2.5.29.17';
const ISSUER = 'authority.example';
const SIGNING = { name: 'ECDSA', hash: 'SHA-256' };
const CURVE = { name: 'ECDSA', namedCurve: 'P-256' };

class Refused extends Error {
  readonly problem: AuthorityProblem;
  constructor(problem: AuthorityProblem) {
    super(problem.type);
    this.problem = problem;
  }
}

/** Starts the authority. */
export async function startAuthority(changes: Partial<Behaviour> = {}): Promise<AcmeAuthority> {
  const behaviour: Behaviour = {
    challengeTypes: ['http-01'],
    profiles: [],
    validate: () => undefined,
    beforeAnswer: () => {},
    refuse: () => undefined,
    window: undefined,
    lifeMs: 90 * DAY_MS,
    backdatedMs: 3_600_000,
    otherNames: undefined,
    busyLooks: 0,
    lostNonces: 0,
    externalAccount: undefined,
    now: () => Date.now(),
    ...changes,
  };
  const keys = await crypto.subtle.generateKey(CURVE, true, ['sign', 'verify']);
  const root = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Small Authority',
    notBefore: new Date(behaviour.now() - 365 * DAY_MS),
    notAfter: new Date(behaviour.now() + 3_650 * DAY_MS),
    keys,
    signingAlgorithm: SIGNING,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  const nonces = new Set<string>();
  const accounts = new Map<string, { url: string; jwk: JsonWebKey }>();
  const orders: Order[] = [];
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const authority: AcmeAuthority = {
    directory: `${base}/directory`,
    behaviour,
    requests: [],
    connections: 0,
    orders: [],
    accounts: 0,
    root: root.toString('pem'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  server.on('connection', () => {
    authority.connections += 1;
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const nonce = randomBytes(16).toString('base64url');
    nonces.add(nonce);
    response.setHeader('replay-nonce', nonce);
    response.setHeader('content-type', 'application/json');
    const [, resource = '', id = ''] = (request.url ?? '').split('/');
    authority.requests.push(resource);
    try {
      await behaviour.beforeAnswer();
      const refusal = behaviour.refuse(resource);
      if (refusal) throw new Refused(refusal);
      const text = await readBody(request);
      response.end(await respond({ resource, id, response, text, url: `${base}${request.url}` }));
    } catch (error) {
      const problem =
        error instanceof Refused
          ? error.problem
          : { status: 500, type: 'serverInternal', detail: String(error) };
      response.statusCode = problem.status;
      if (problem.retryAfter !== undefined) response.setHeader('retry-after', problem.retryAfter);
      response.setHeader('content-type', 'application/problem+json');
      response.end(JSON.stringify(problemOf(problem)));
    }
  }

  type Asked = { resource: string; id: string; response: ServerResponse; text: string; url: string };

  async function respond({ resource, id, response, text, url }: Asked): Promise<string> {
    if (resource === 'directory') return JSON.stringify(directoryOf());
    if (resource === 'newNonce') return '';
    if (resource === 'renewalInfo') {
      const { start, end } = behaviour.window?.(id) ?? { start: 0, end: 0 };
      response.setHeader('retry-after', '21600');
      return JSON.stringify({ suggestedWindow: { start: iso(start), end: iso(end) } });
    }
    const { payload, account } = verifyJws(text, url);
    if (resource === 'newAccount') return newAccount(payload, account, response);
    if (resource === 'newOrder') return newOrder(payload as NewOrder, account.url, response);
    const order = orders[Number(id)];
    if (!order || order.accountUrl !== account.url) throw new Refused({ status: 404, type: 'malformed' });
    if (resource === 'authorization') return JSON.stringify(authorizationOf(order));
    if (resource === 'challenge') return answerChallenge(order, url);
    await validate(order, account.jwk);
    if (resource === 'finalize') await finalize(order, (payload as { csr: string }).csr);
    if (resource === 'certificate') return order.chain ?? '';
    return JSON.stringify(orderOf(order));
  }

  function directoryOf(): object {
    const resources = ['newNonce', 'newAccount', 'newOrder', ...(behaviour.window ? ['renewalInfo'] : [])];
    return {
      ...Object.fromEntries(resources.map((name) => [name, `${base}/${name}`])),
      meta: {
        termsOfService: `${base}/terms`,
        caaIdentities: [ISSUER],
        externalAccountRequired: behaviour.externalAccount !== undefined,
        profiles: Object.fromEntries(behaviour.profiles.map((name) => [name, `The profile ${name}.`])),
      },
    };
  }

  function verifyJws(text: string, url: string) {
    const jws = JSON.parse(text) as Record<'protected' | 'payload' | 'signature', string>;
    const header = decode(jws.protected) as Record<string, string> & { jwk?: JsonWebKey };
    if (behaviour.lostNonces > 0 || !nonces.delete(header['nonce'] ?? '')) {
      behaviour.lostNonces -= 1;
      throw new Refused({ status: 400, type: 'badNonce' });
    }
    if (header['url'] !== url)
      throw new Refused({ status: 401, type: 'unauthorized', detail: 'another URL' });
    const known = [...accounts.values()].find((one) => one.url === header['kid']);
    const jwk = header.jwk ?? known?.jwk;
    if (!jwk) throw new Refused({ status: 400, type: 'accountDoesNotExist' });
    const isGenuine = verify(
      'sha256',
      Buffer.from(`${jws.protected}.${jws.payload}`),
      { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
      Buffer.from(jws.signature, 'base64url'),
    );
    if (!isGenuine) throw new Refused({ status: 400, type: 'malformed', detail: 'wrong signature' });
    return {
      payload: jws.payload === '' ? undefined : decode(jws.payload),
      account: { url: known?.url ?? '', jwk },
    };
  }

  function newAccount(payload: unknown, { jwk }: { jwk: JsonWebKey }, response: ServerResponse): string {
    const { termsOfServiceAgreed, externalAccountBinding } = payload as Record<string, unknown>;
    if (termsOfServiceAgreed !== true) throw new Refused({ status: 403, type: 'userActionRequired' });
    if (behaviour.externalAccount) requireBinding(externalAccountBinding, jwk);
    const thumbprint = thumbprintOf(jwk);
    const account = accounts.get(thumbprint) ?? { url: `${base}/account/${accounts.size}`, jwk };
    accounts.set(thumbprint, account);
    authority.accounts = accounts.size;
    response.statusCode = 201;
    response.setHeader('location', account.url);
    return JSON.stringify({ status: 'valid' });
  }

  function requireBinding(binding: unknown, jwk: JsonWebKey): void {
    const { protected: header = '', payload = '', signature } = (binding ?? {}) as Record<string, string>;
    const { keyId, hmacKey } = behaviour.externalAccount ?? { keyId: '', hmacKey: '' };
    const expected = createHmac('sha256', Buffer.from(hmacKey, 'base64url'))
      .update(`${header}.${payload}`)
      .digest('base64url');
    const isBound =
      signature === expected &&
      (decode(header) as { kid: string }).kid === keyId &&
      thumbprintOf(decode(payload) as JsonWebKey) === thumbprintOf(jwk);
    if (!isBound) throw new Refused({ status: 403, type: 'unauthorized', detail: 'wrong external account' });
  }

  function newOrder(payload: NewOrder, accountUrl: string, response: ServerResponse): string {
    authority.orders.push(payload);
    const name = payload.identifiers[0]?.value ?? '';
    const token = randomBytes(16).toString('base64url');
    const order: Order = {
      ...{ id: orders.length, name, accountUrl, status: 'pending', token },
      ...{ answered: undefined, error: undefined, chain: undefined },
    };
    orders.push(order);
    response.statusCode = 201;
    response.setHeader('location', `${base}/order/${order.id}`);
    return JSON.stringify(orderOf(order));
  }

  function orderOf({ id, name, status, error, chain }: Order): object {
    return {
      status,
      identifiers: [{ type: 'dns', value: name }],
      authorizations: [`${base}/authorization/${id}`],
      finalize: `${base}/finalize/${id}`,
      ...(error && { error }),
      ...(chain && { certificate: `${base}/certificate/${id}` }),
    };
  }

  function authorizationOf({ id, name, status, token, error, answered }: Order): object {
    const states: Record<string, string> = { pending: 'pending', invalid: 'invalid' };
    return {
      status: states[status] ?? 'valid',
      identifier: { type: 'dns', value: name },
      challenges: behaviour.challengeTypes.map((type) => ({
        type,
        url: `${base}/challenge/${id}/${type}`,
        status: answered === type ? (states[status] ?? 'valid') : 'pending',
        ...(type === 'dns-persist-01' ? { 'issuer-domain-names': [ISSUER] } : { token }),
        ...(answered === type && error && { error }),
      })),
    };
  }

  function answerChallenge(order: Order, url: string): string {
    const type = url.split('/').at(-1) ?? '';
    order.answered = type;
    return JSON.stringify({ type, url, status: 'processing', token: order.token });
  }

  /** Looks at the answer to a challenge, some time after the client has said that it is there. */
  async function validate(order: Order, jwk: JsonWebKey): Promise<void> {
    const { name, token, accountUrl, answered: type } = order;
    if (order.status !== 'pending' || type === undefined) return;
    if (behaviour.busyLooks > 0) {
      behaviour.busyLooks -= 1;
      return;
    }
    const keyAuthorization = `${token}.${thumbprintOf(jwk)}`;
    const failure = await behaviour.validate({ type, name, token, keyAuthorization, accountUrl });
    order.status = failure === undefined ? 'ready' : 'invalid';
    if (failure !== undefined)
      order.error = problemOf({ status: 403, type: 'unauthorized', detail: failure });
  }

  async function finalize(order: Order, csr: string): Promise<void> {
    if (order.status !== 'ready') throw new Refused({ status: 403, type: 'orderNotReady' });
    const request = new Pkcs10CertificateRequest(Buffer.from(csr, 'base64url'));
    const asked = new SubjectAlternativeNameExtension(
      request.extensions.find(({ type }) => type === SUBJECT_ALT_NAME)?.rawData ?? new ArrayBuffer(),
    ).names.toJSON();
    if (
      !(await request.verify()) ||
      JSON.stringify(asked) !== JSON.stringify([{ type: 'dns', value: order.name }])
    )
      throw new Refused({ status: 400, type: 'badCSR' });
    const names = behaviour.otherNames ?? [order.name];
    const validFrom = behaviour.now() - behaviour.backdatedMs;
    const leaf = await X509CertificateGenerator.create({
      serialNumber: randomBytes(16).toString('hex'),
      issuer: root.subject,
      notBefore: new Date(validFrom),
      notAfter: new Date(validFrom + behaviour.lifeMs),
      publicKey: request.publicKey,
      signingKey: keys.privateKey,
      signingAlgorithm: SIGNING,
      extensions: [
        new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
        await AuthorityKeyIdentifierExtension.create(root as X509Certificate),
      ],
    });
    order.chain = `${leaf.toString('pem')}\n${root.toString('pem')}\n`;
    order.status = 'valid';
  }

  return authority;
}

function problemOf({ type, detail, status }: AuthorityProblem): object {
  return { type: `urn:ietf:params:acme:error:${type}`, detail: detail ?? type, status };
}

function thumbprintOf({ crv, kty, x, y }: JsonWebKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

function decode(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}

function iso(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
