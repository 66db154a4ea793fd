/** A provider of OpenID Connect on loopback, whose answers tests make wrong in one way or another. */
import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { realClock } from '../../src/system/clock.ts';

export const CLIENT_ID = 'postrider';
export const CLIENT_SECRET = 'secret of the client';

/** What the id token says beside or instead of what an honest one does, and the key that signs it. */
type Answer = { claims?: Record<string, unknown>; key?: KeyObject };

export type Issuer = {
  url: string;
  /** Paths that were asked for, with the method. */
  asked: string[];
  /**
   * Logs an account in, at the address to which the application has sent the browser, and returns the path to which the issuer sends it back.
   */
  logIn(authorization: string, answer?: Answer): string;
  close(): Promise<void>;
};

type Granted = { challenge: string; redirectUri: string; token: string };

const newKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** Returns a key that is not that of any issuer. */
export function foreignKey(): KeyObject {
  return newKey().privateKey;
}

/** Starts the issuer. `document` changes its settings, and its page for browsers offers the `accounts`. */
export async function startIssuer(
  document: Record<string, unknown> = {},
  accounts: readonly string[] = [],
): Promise<Issuer> {
  const { privateKey, publicKey } = newKey();
  const granted = new Map<string, Granted>();
  const asked: string[] = [];
  let url = '';

  async function tokenFor(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const form = new URLSearchParams(await text(request));
    const grant = granted.get(form.get('code') ?? '');
    granted.delete(form.get('code') ?? '');
    const secret = encodeURIComponent(CLIENT_SECRET).replaceAll('%20', '+');
    const basic = `Basic ${Buffer.from(`${CLIENT_ID}:${secret}`).toString('base64')}`;
    const verifier = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (request.headers.authorization !== basic) return { status: 401, body: { error: 'invalid_client' } };
    if (grant?.challenge !== verifier || grant.redirectUri !== form.get('redirect_uri'))
      return { status: 400, body: { error: 'invalid_grant' } };
    const answer = { access_token: 'access', token_type: 'bearer', expires_in: 60, id_token: grant.token };
    return { status: 200, body: answer };
  }

  async function answerTo(request: IncomingMessage) {
    asked.push(`${request.method} ${request.url}`);
    switch (request.url) {
      case '/.well-known/openid-configuration':
        return {
          status: 200,
          body: {
            issuer: url,
            authorization_endpoint: `${url}/authorize`,
            token_endpoint: `${url}/token`,
            jwks_uri: `${url}/keys`,
            response_types_supported: ['code'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
            ...document,
          },
        };
      case '/keys':
        return {
          status: 200,
          body: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'key', alg: 'RS256', use: 'sig' }] },
        };
      case '/token':
        return tokenFor(request);
      default:
        return { status: 404, body: {} };
    }
  }

  const server = createServer((request, response) => {
    if (request.url?.startsWith('/authorize?')) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(loginPage(url + request.url));
      return;
    }
    void answerTo(request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** Returns the page on which people choose an account, or cancel the login. */
  function loginPage(authorization: string): string {
    const links = accounts.map((email) => {
      const claims = { sub: email, email, name: email.split('@')[0] };
      return `<p><a href="${encodeAmpersands(originOf(authorization) + logIn(authorization, { claims }))}">${email}</a></p>`;
    });
    const query = new URL(authorization).searchParams;
    const back = new URL(query.get('redirect_uri') ?? '');
    back.search = String(new URLSearchParams({ error: 'access_denied', state: query.get('state') ?? '' }));
    return `<!doctype html><title>Accounts</title>${links.join('')}<a href="${encodeAmpersands(back.href)}">Cancel</a>`;
  }

  return {
    url,
    asked,
    logIn,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function logIn(authorization: string, { claims = {}, key = privateKey }: Answer = {}): string {
    const query = new URL(authorization).searchParams;
    const now = Math.floor(realClock.now() / 1000);
    const content = {
      iss: url,
      aud: query.get('client_id'),
      iat: now,
      exp: now + 60,
      nonce: query.get('nonce'),
      email_verified: true,
      ...claims,
    };
    const code = randomUUID();
    const redirectUri = query.get('redirect_uri') ?? '';
    granted.set(code, {
      challenge: query.get('code_challenge') ?? '',
      redirectUri,
      token: signToken(content, key),
    });
    const back = new URL(redirectUri);
    back.search = String(new URLSearchParams({ code, state: query.get('state') ?? '' }));
    return back.pathname + back.search;
  }
}

const encodeAmpersands = (text: string) => text.replaceAll('&', '&amp;');

/** Returns the origin of the application that has sent the browser. */
function originOf(authorization: string): string {
  return new URL(new URL(authorization).searchParams.get('redirect_uri') ?? '').origin;
}

function signToken(content: Record<string, unknown>, key: KeyObject): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'RS256', kid: 'key', typ: 'JWT' })}.${encode(content)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}
