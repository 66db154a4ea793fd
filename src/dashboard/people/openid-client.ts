/**
 * The client of OpenID Connect, over the library. Every request goes through `app.fetch`, which refuses addresses that are not public. It is a
 * module of its own because loading the library takes time.
 */
import { readFile } from 'node:fs/promises';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client';
import type { App } from '../../app.ts';

type ClientApp = Pick<App, 'config' | 'fetch'>;

/** Secrets of one login, which come back with it. */
export type LoginSecrets = { state: string; nonce: string; codeVerifier: string };

/** Facts that an issuer tells about an account. None of them was checked but by its signature. */
export type IssuerClaims = { subject: string; email: unknown; emailVerified: unknown; name: unknown };

/** Time limit of a request to the issuer. */
const TIMEOUT_MS = 10_000;
/** Maximum size of an answer of the issuer. Sets of keys have some kilobytes. */
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Reads the settings of the issuer.
 * @throws Error of the connection, or one that says what is wrong with the answer
 */
export async function discoverIssuer(app: ClientApp): Promise<Configuration> {
  const { issuer, clientId, clientSecretFile } = app.config.openid;
  const secret = (await readFile(clientSecretFile, 'utf8')).trim();
  const isInsecure = issuer.startsWith('http:');
  const found = await discovery(new URL(issuer), clientId, undefined, None(), {
    [customFetch]: guardedFetch(app),
    ...(isInsecure && { execute: [allowInsecureRequests] }),
  });
  const server = found.serverMetadata();
  const configuration = new Configuration(server, clientId, undefined, authenticationOf(server, secret));
  configuration[customFetch] = guardedFetch(app);
  if (isInsecure) allowInsecureRequests(configuration);
  // The signature is checked too, although the token comes from the issuer itself.
  enableNonRepudiationChecks(configuration);
  return configuration;
}

/** An issuer that names no methods knows `client_secret_basic` (OpenID Connect Discovery 1.0, section 3). */
function authenticationOf(
  {
    token_endpoint_auth_methods_supported: methods = ['client_secret_basic'],
  }: ReturnType<Configuration['serverMetadata']>,
  secret: string,
): ClientAuth {
  return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** Returns the page of the issuer on which a person logs in. */
export async function authorizationUrl(
  configuration: Configuration,
  { state, nonce, codeVerifier, redirectUri }: LoginSecrets & { redirectUri: string },
): Promise<URL> {
  return buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(codeVerifier),
    code_challenge_method: 'S256',
  });
}

/**
 * Exchanges the code that the browser has brought back, and returns what the issuer says about the account. Issuer, audience, nonce, times and
 * signature have been checked.
 *
 * @throws Error of the connection, or one that says what is wrong
 */
export async function claimsAt(
  configuration: Configuration,
  returned: URL,
  { state, nonce, codeVerifier }: LoginSecrets,
): Promise<IssuerClaims> {
  const tokens = await authorizationCodeGrant(configuration, returned, {
    pkceCodeVerifier: codeVerifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  });
  const token = tokens.claims();
  if (!token) throw new Error('The answer has no id token');
  const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined;
  const { sub: subject } = token;
  const claims =
    token['email'] === undefined && hasUserInfo
      ? await fetchUserInfo(configuration, tokens.access_token, subject)
      : token;
  return { subject, email: claims['email'], emailVerified: claims['email_verified'], name: claims['name'] };
}

function guardedFetch(app: ClientApp): CustomFetch {
  return async (url, { method, headers, body }) => {
    const response = await app.fetch({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      ...(body !== null && body !== undefined && { body: String(body) }),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_ANSWER_BYTES,
      // People must get in while nothing may leave, to release it.
      changesNothing: true,
    });
    if (response.truncated) throw new Error('The answer of the issuer is too long');
    return new Response(response.status === 204 ? null : new Uint8Array(response.body), {
      status: response.status,
      headers: Object.entries(response.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [value].flat().map((one): [string, string] => [name, one]),
      ),
    });
  };
}
