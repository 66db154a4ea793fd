/** The options of a client and of a call, and how they are checked. */
import { invalidArgument, PostriderError } from './errors.ts';

export type ClientOptions = {
  /** API key. The default is the environment variable `SERVICE_API_KEY`. */
  key?: string;
  /** Address of the server, such as `https://mail.example.com`. The default is the environment variable `SERVICE_BASE_URL`. */
  baseUrl?: string;
  /** Number of times that a request is repeated which may be. The default is 2. */
  maxRetries?: number;
  /** Milliseconds that a try may take, and one second more for each 100 kB of its body. The default is 30000. */
  timeoutMs?: number;
  /** Milliseconds that a call may take with its repeats. The default is 120000, or what two tries may take where that is longer. */
  deadlineMs?: number;
  /** Replaces the `fetch` of the runtime. */
  fetch?: typeof fetch;
};

export type CallOptions = Pick<ClientOptions, 'timeoutMs' | 'deadlineMs'> & {
  /** Ends the call with an error of the type `canceled`. */
  signal?: AbortSignal;
};

export type SendOptions = CallOptions & {
  /** Key of 1 to 256 characters, with which a repeated call sends nothing again. The default is a random one for each call. */
  idempotencyKey?: string;
};

export type Settings = Required<Pick<ClientOptions, 'maxRetries' | 'timeoutMs' | 'fetch'>> & {
  readonly key: string;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly deadlineMs: number | undefined;
};

const DEFAULT_RETRIES = 2;
const DEFAULT_TIMEOUT_MS = 30_000;
/** A test key sends nothing to the world, and may travel without TLS. */
const TEST_KEY = /^svc_dev_/;
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

export function readSettings(options: ClientOptions): Settings {
  const key = options.key ?? environment('SERVICE_API_KEY');
  // No message repeats the key.
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key))
    throw invalidArgument(
      'The API key is missing or has characters that no key has. Give `key`, or set SERVICE_API_KEY.',
    );
  return {
    key,
    baseUrl: readBaseUrl(options.baseUrl ?? environment('SERVICE_BASE_URL'), key),
    maxRetries: readNumber(options.maxRetries, 'maxRetries') ?? DEFAULT_RETRIES,
    timeoutMs: readNumber(options.timeoutMs, 'timeoutMs') ?? DEFAULT_TIMEOUT_MS,
    deadlineMs: readNumber(options.deadlineMs, 'deadlineMs'),
    // A fetch of a browser refuses to be the method of another object.
    fetch: options.fetch ?? ((...request) => fetch(...request)),
  };
}

export function readNumber(value: number | undefined, name: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !(value >= 0))
    throw invalidArgument(`\`${name}\` is not a number from 0 up.`);
  return value;
}

function readBaseUrl(text: string | undefined, key: string): string {
  if (!text) throw invalidArgument('The address is missing. Give `baseUrl`, or set SERVICE_BASE_URL.');
  const url = parseUrl(text);
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password + url.search + url.hash !== ''
  )
    throw invalidArgument(
      '`baseUrl` is not an address such as https://mail.example.com, without a user and a query.',
    );
  if (url.protocol === 'http:' && !TEST_KEY.test(key) && !LOOPBACK.test(url.hostname))
    throw new PostriderError({
      type: 'insecure_base_url',
      message: 'A live key is not sent over plain http to another machine. Use https.',
    });
  return url.href.replace(/\/+$/, '');
}

function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Reads a variable where the runtime has an environment and lets this program read it. */
function environment(name: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    return process?.env?.[name];
  } catch {
    return undefined;
  }
}
