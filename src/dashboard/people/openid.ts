/**
 * Logging in at a provider of OpenID Connect. The secrets of a login that has begun lie sealed in a cookie of the browser that has begun it, so
 * logins that nobody finishes take no memory, and no other browser finishes them.
 */
import { randomBytes } from 'node:crypto';
import type { Configuration } from 'openid-client';
import type { App } from '../../app.ts';
import { MINUTE_MS } from '../../system/clock.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { AppError } from '../../system/errors.ts';
import { readEmail } from './fields.ts';
import type { IssuerClaims, LoginSecrets } from './openid-client.ts';
import type { IssuerAccount } from './openid-store.ts';

/** Purpose of a login, which the provider returns with it. */
type Purpose = {
  /** Page that was wanted before. */
  to?: string | undefined;
  /** Token of the invitation that the login accepts. */
  invitation?: string | undefined;
};

/** The answer of the issuer about a login: the account with the name that the person has there, and what the login was for. */
export type Returned = Purpose & { account: IssuerAccount; name: string };

export type OpenId = {
  /** Name of the provider on pages. */
  name: string;
  /**
   * Begins a login.
   * @returns the page of the provider, and what the cookie must have when the browser comes back
   * @throws AppError unavailable
   */
  begin(redirectUri: string, purpose: Purpose): Promise<{ url: string; sealed: string }>;
  /**
   * Checks the address with which the browser has come back.
   * @throws AppError restricted_api_key, unavailable
   */
  finish(returned: URL, sealed: string | undefined): Promise<Returned>;
};

/** Time within which a login at the provider ends. */
export const LOGIN_MS = 10 * MINUTE_MS;
/** Time after which the settings of the issuer are read again, and the time after a failure. */
const SETTINGS_MS = 60 * MINUTE_MS;
const RETRY_MS = 10_000;
/** Maximum number of logins that are being checked at the same time, each with requests to the issuer, and of those that wait. */
const MAX_CHECKED = 8;
const MAX_WAITING = 100;
/** Random bytes of each secret of a login. A verifier of PKCE has at least 43 characters. */
const SECRET_BYTES = 32;
/** Maximum length of the wanted page, because a browser keeps cookies of 4,096 bytes. */
const MAX_TO_CHARACTERS = 1_000;

type Sealed = LoginSecrets & Purpose & { expiresAt: number };

const CONTEXT = ['openid login'];

/** Returns the login at the provider of the configuration; undefined when it names none. */
export function createOpenId(
  app: Pick<App, 'clock' | 'config' | 'fetch' | 'log' | 'sealer'>,
): OpenId | undefined {
  const { clock, config, log, sealer } = app;
  const { issuer, name } = config.openid;
  if (issuer === '') return undefined;
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_CHECKED, maxWaiting: MAX_WAITING });
  let settings: { promise: Promise<Configuration>; until: number } | undefined;

  /** Reads the settings of the issuer once for all who wait for them. */
  function discover(): Promise<Configuration> {
    if (settings && settings.until > clock.now()) return settings.promise;
    const promise = import('./openid-client.ts').then(({ discoverIssuer }) => discoverIssuer(app));
    const found = { promise, until: clock.now() + SETTINGS_MS };
    settings = found;
    promise.catch((error) => {
      found.until = clock.now() + RETRY_MS;
      log.warn({ err: error, issuer }, 'the settings of the OpenID provider cannot be read');
    });
    return promise;
  }

  async function configuration(): Promise<Configuration> {
    try {
      return await discover();
    } catch (cause) {
      throw new AppError(
        'unavailable',
        'The provider cannot be reached; log in otherwise, or try again later',
        {
          cause,
        },
      );
    }
  }

  /** Returns the refusal of a login. The page says the same for each, and the log has the reason. */
  function refuse(reason: unknown): AppError {
    log.info({ reason: wordsOf(reason), issuer }, 'a login at the OpenID provider was refused');
    return new AppError('restricted_api_key', 'The login at the provider was not accepted; begin again');
  }

  function open(sealed: string | undefined): Sealed {
    try {
      const login = JSON.parse(sealer.open(sealed ?? '', CONTEXT)) as Sealed;
      if (login.expiresAt > clock.now()) return login;
    } catch (error) {
      throw refuse(error);
    }
    throw refuse('it has taken too long');
  }

  return {
    name: name === '' ? new URL(issuer).hostname : name,
    async begin(redirectUri, { to, invitation }) {
      const client = await import('./openid-client.ts');
      const secrets = { state: newSecret(), nonce: newSecret(), codeVerifier: newSecret() };
      const url = await client.authorizationUrl(await configuration(), { ...secrets, redirectUri });
      const isKept = to !== undefined && to.length <= MAX_TO_CHARACTERS;
      const login: Sealed = {
        ...secrets,
        ...(isKept && { to }),
        ...(invitation !== undefined && { invitation }),
        expiresAt: clock.now() + LOGIN_MS,
      };
      return { url: url.href, sealed: sealer.seal(JSON.stringify(login), CONTEXT) };
    },
    async finish(returned, sealed) {
      const { to, invitation, ...secrets } = open(sealed);
      const client = await import('./openid-client.ts');
      const settled = await configuration();
      const checking = limiter.tryRun(() => client.claimsAt(settled, returned, secrets));
      if (!checking) throw new AppError('unavailable', 'Many people are logging in; try again in a moment');
      const claims = await checking.catch((error) => {
        throw refuse(error);
      });
      return { ...identityOf(claims), to, invitation };
    },
  };

  function identityOf({ subject, email, emailVerified, name: named }: IssuerClaims) {
    if (emailVerified !== true || typeof email !== 'string') throw refuse('the address is not verified');
    const account = { issuer, subject, email: readEmail(email) };
    return { account, name: typeof named === 'string' && named !== '' ? named : account.email };
  }
}

/** Returns what an error says, with its cause: the library says there which claim is wrong. Neither has the values of claims. */
function wordsOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  const { message, cause } = reason;
  return cause instanceof Error ? `${message}: ${wordsOf(cause)}` : message;
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
