/**
 * The connection to an authority: its directory, its nonces and signed requests (RFC 8555 sections 6 and 7.1). It sends
 * nothing by itself. Every request goes through `app.fetch`, which refuses addresses that are not public.
 */
import type { App } from '../../app.ts';
import { isHostName } from '../../system/dns.ts';
import { errorMessage } from '../../system/errors.ts';
import type { HttpResponse } from '../../system/fetch/answer.ts';
import { readRetryAfter } from '../../system/fetch/retry-after.ts';
import { AcmeError, problemError } from './acme-error.ts';
import { type AccountKey, signRequest } from './jose.ts';

/** The resources of an authority, and what it says about itself. */
type Directory = {
  newNonce: string;
  newAccount: string;
  newOrder: string;
  /** Resource of renewal information (RFC 9773 section 3); undefined when the authority has none. */
  renewalInfo: string | undefined;
  /** URL of the terms that an account agrees to; undefined when there are none. */
  termsOfService: string | undefined;
  /** Names by which CAA records allow this authority (RFC 8555 section 7.1.1). */
  caaIdentities: readonly string[];
  needsExternalAccount: boolean;
  /** Names of the profiles that an order can ask for (draft-aaron-acme-profiles). */
  profiles: readonly string[];
};

/** The key that signs a request, and the account that it belongs to; undefined before there is one. */
export type Signer = { key: AccountKey; accountUrl: string | undefined };

export type Reply = {
  /** URL of the resource that was made, from the header `Location`. */
  location: string | undefined;
  /** Wait before the resource is read again, from the header `Retry-After`, in milliseconds. */
  retryAfterMs: number | undefined;
  body: unknown;
  text: string;
};

/** Maximum time of one request, in milliseconds. Authorities answer within a second; a slow one holds up only its own orders. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Maximum size of an answer. A chain of five certificates has 10 KB. */
const MAX_RESPONSE_BYTES = 256 * 1024;
/** Maximum number of times that one request is signed anew because the authority does not know its nonce. */
const MAX_NONCE_TRIES = 4;
/** Maximum number of unused nonces, as many as there are orders at the same time. Authorities forget old ones. */
const MAX_NONCES = 4;
/** Time for which the directory is kept, in milliseconds. Authorities change it with notice of months. */
const DIRECTORY_MS = 3_600_000;
/** Maximum number of profiles and of CAA identities that are read. Authorities have up to five. */
const MAX_LISTED = 32;

export class Authority {
  readonly directoryUrl: string;
  readonly #app: Pick<App, 'clock' | 'fetch'>;
  /** Nonces that answers have brought. Each is good for one request. */
  readonly #nonces: string[] = [];
  #directory: { value: Directory; readAt: number } | undefined;

  constructor(app: Pick<App, 'clock' | 'fetch'>, directoryUrl: string) {
    this.#app = app;
    this.directoryUrl = directoryUrl;
  }

  /**
   * Returns the directory, which is read at most once an hour.
   * @throws AcmeError
   */
  async directory(): Promise<Directory> {
    const now = this.#app.clock.elapsed();
    if (this.#directory && now - this.#directory.readAt < DIRECTORY_MS) return this.#directory.value;
    const { body } = await this.get(this.directoryUrl, 'the directory');
    this.#directory = { value: this.#readDirectory(body), readAt: now };
    return this.#directory.value;
  }

  /**
   * Reads a resource that needs no signature.
   * @throws AcmeError
   */
  async get(url: string, doing: string): Promise<Reply> {
    return this.#read(await this.#send('GET', url), doing);
  }

  /**
   * Sends a signed request, and again with another nonce while the authority asks for that (RFC 8555 section 6.5). Without
   * a payload it reads the resource.
   * @throws AcmeError
   */
  async post(
    signer: Signer,
    url: string,
    { doing, payload }: { doing: string; payload?: unknown },
  ): Promise<Reply> {
    for (let tries = 1; ; tries += 1) {
      const nonce = this.#nonces.pop() ?? (await this.#newNonce());
      const { key, accountUrl } = signer;
      const identity = accountUrl === undefined ? { jwk: key.jwk } : { kid: accountUrl };
      const body = JSON.stringify(signRequest(key, { url, nonce, payload, ...identity }));
      const response = await this.#send('POST', url, body);
      const next = headerOf(response, 'replay-nonce');
      if (next !== undefined && this.#nonces.length < MAX_NONCES) this.#nonces.push(next);
      try {
        return this.#read(response, doing);
      } catch (error) {
        if (!(error instanceof AcmeError) || error.type !== 'badNonce' || tries >= MAX_NONCE_TRIES)
          throw error;
      }
    }
  }

  async #newNonce(): Promise<string> {
    const { newNonce } = await this.directory();
    const nonce = headerOf(await this.#send('GET', newNonce), 'replay-nonce');
    if (nonce === undefined) throw new AcmeError('noNonce', 'the authority sent no nonce');
    return nonce;
  }

  async #send(method: 'GET' | 'POST', url: string, body?: string): Promise<HttpResponse> {
    try {
      return await this.#app.fetch({
        method,
        url,
        headers: { ...HEADERS, ...(body !== undefined && { 'content-type': 'application/jose+json' }) },
        ...(body !== undefined && { body }),
        timeoutMs: REQUEST_TIMEOUT_MS,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      });
    } catch (error) {
      const { host } = new URL(url);
      throw new AcmeError('unreachable', `${host} could not be asked: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  /** @throws AcmeError for any status but a success */
  #read(response: HttpResponse, doing: string): Reply {
    const text = response.body.toString();
    const body = parseJson(text);
    const retryAfterMs = readRetryAfter(response.headers['retry-after'], this.#app.clock.now());
    if (response.truncated)
      throw new AcmeError('tooLong', `the answer of the authority to ${doing} is too long`);
    if (response.status >= 200 && response.status < 300)
      return { location: headerOf(response, 'location'), retryAfterMs, body, text };
    const { status } = response;
    if (body === undefined)
      throw new AcmeError('status', `the authority answered ${doing} with ${status}`, {
        retryAfterMs,
        status,
      });
    throw problemError(doing, body, { retryAfterMs, status });
  }

  #readDirectory(body: unknown): Directory {
    const fields = recordOf(body);
    const meta = recordOf(fields['meta']);
    const required = (key: string) => requireUrl(fields[key], this.directoryUrl, key);
    const { renewalInfo, profiles } = {
      renewalInfo: fields['renewalInfo'],
      profiles: recordOf(meta['profiles']),
    };
    return {
      newNonce: required('newNonce'),
      newAccount: required('newAccount'),
      newOrder: required('newOrder'),
      renewalInfo: renewalInfo === undefined ? undefined : required('renewalInfo'),
      termsOfService: typeof meta['termsOfService'] === 'string' ? meta['termsOfService'] : undefined,
      caaIdentities: textsOf(meta['caaIdentities']).filter(isHostName),
      needsExternalAccount: meta['externalAccountRequired'] === true,
      profiles: Object.keys(profiles).slice(0, MAX_LISTED),
    };
  }
}

/** Authorities ask for a name and a contact of the program (RFC 8555 section 6.1). */
const HEADERS = {
  'user-agent': 'Postrider (ACME)',
  accept: 'application/json, application/pem-certificate-chain',
};

function headerOf({ headers }: HttpResponse, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the members of a JSON object; none for any other value. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Matches printable ASCII without spaces and quotes, so that a URL can stand in a DNS record. */
const PLAIN_TEXT = /^[!#-~]{1,500}$/;

/** Returns the texts of a list. */
export function textsOf(value: unknown): string[] {
  const list = Array.isArray(value) ? value.slice(0, MAX_LISTED) : [];
  return list.filter((item) => typeof item === 'string');
}

/**
 * Returns a URL that the authority named. It has the scheme of the directory, so an authority behind TLS leads nowhere
 * without it.
 * @throws AcmeError
 */
export function requireUrl(value: unknown, base: string, what: string): string {
  const isPlain = typeof value === 'string' && PLAIN_TEXT.test(value) && URL.canParse(value);
  if (isPlain && new URL(value).protocol === new URL(base).protocol) return value;
  throw new AcmeError('malformed', `the authority named no usable URL of ${what}`);
}
