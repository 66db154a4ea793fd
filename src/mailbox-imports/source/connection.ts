/**
 * A session with the server that mail is imported from. The server is not trusted: each exchange with it has a maximum number of octets
 * and a maximum time, at which the session ends. An endless response, a million folders and a silent server cost no more than that.
 */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ImapFlow, type ImapTransport } from 'imapflow';
import type { MailboxImportRow } from '../../db/mailbox-tables.ts';
import { type Clock, sleep } from '../../system/clock.ts';
import { errorCode, errorMessage } from '../../system/errors.ts';
import type { System } from '../../system/system.ts';
import { connectVerified, isCertificateError } from '../../system/tls.ts';
import { VERSION } from '../../version.ts';
import { dialFirst, findAddresses } from './dial.ts';
import { CommandRefused, NoImapServer, SourceError, sourceText } from './source-error.ts';

export type SourceSettings = Pick<MailboxImportRow, 'host' | 'port' | 'security' | 'user'> & {
  password: string;
  /** An earlier run of the import has logged in. */
  hasLoggedIn: boolean;
};

/** Limits of an exchange. */
export type ExchangeLimits = { maxBytes: number; timeoutMs: number };

/** Maximum size of one literal. Larger messages are fetched in pieces, and the size that a server reports for a small one may be wrong. */
const MAX_LITERAL_BYTES = 8 * 1024 * 1024;
/** Octets that may stand around a literal in its response. */
const RESPONSE_BYTES = 64 * 1024;
/** Maximum number of words in one response. A message that is described has some dozen, and some hundred with many keywords. */
const MAX_RESPONSE_TOKENS = 10_000;
/** Maximum length of a line: the UIDs of all messages of the largest folder. */
const MAX_LINE_BYTES = 6 * 1024 * 1024;
/**
 * Maximum number of messages in a folder. The library makes a list of as many numbers as the server says that there are messages, even when
 * it was sent a range of a few octets.
 */
export const MAX_FOLDER_MESSAGES = 800_000;
/**
 * Number of octets that each piece of a response counts for at least. A server can send each octet in a TLS record of its own, and the library
 * holds the pieces of a response apart, each of which takes some hundred octets of memory.
 */
const MIN_PIECE_BYTES = 64;
/** Octets that a server may send without being asked, such as changes by other sessions. */
const UNASKED_BYTES = 256 * 1024;
/**
 * Time for the connection and for greeting, STARTTLS, capabilities and login. An attempt that meets no IMAP server always takes all of it.
 */
const CONTACT_MS = 30_000;
/** Maximum size of what a server sends in that time. */
const CONTACT_BYTES = 256 * 1024;
/** First octet of the greeting of an IMAP server (RFC 9051 section 7.1). */
const UNTAGGED = '*'.charCodeAt(0);

/**
 * Connects and logs in. An abort of the signal ends the wait after an attempt that has met no IMAP server.
 * @throws SourceError
 */
export async function connectSource(
  app: Pick<System, 'clock' | 'dns' | 'targets' | 'dial'>,
  settings: SourceSettings,
  signal?: AbortSignal,
): Promise<SourceConnection> {
  const { clock } = app;
  const addresses = await findAddresses(app, settings.host);
  const endsAt = clock.elapsed() + CONTACT_MS;
  try {
    return await logIn(app, settings, { addresses, endsAt });
  } catch (error) {
    // Neither the text nor the time tells whether a port refuses connections or drops them.
    if (error instanceof NoImapServer) await sleep(clock, Math.max(0, endsAt - clock.elapsed()), signal);
    throw error;
  }
}

async function logIn(
  app: Pick<System, 'clock' | 'dial'>,
  settings: SourceSettings,
  { addresses, endsAt }: { addresses: readonly string[]; endsAt: number },
): Promise<SourceConnection> {
  const socket = await dialFirst(app, addresses, settings);
  const connection = new SourceConnection(app.clock, socket, settings);
  const limits = { maxBytes: CONTACT_BYTES, timeoutMs: endsAt - app.clock.elapsed() };
  try {
    await connection.exchange(limits, (client) => client.connect());
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** The commands of a session, which run within an exchange. */
type Commands = Pick<ImapFlow, 'connect' | 'list' | 'mailboxOpen' | 'search' | 'fetch' | 'fetchOne'>;

export class SourceConnection {
  readonly #clock: Clock;
  readonly #settings: SourceSettings;
  /** True once the server has sent the beginning of a greeting. */
  #hasGreeted = false;
  readonly #client: ImapFlow;
  /** Octets that the server may still send. */
  #leftBytes = UNASKED_BYTES;
  #failure: SourceError | undefined;
  /** Ends the exchange that runs. */
  #interrupt: ((failure: SourceError) => void) | undefined;
  readonly #socket: Socket;

  constructor(clock: Clock, socket: Socket, settings: SourceSettings) {
    this.#clock = clock;
    this.#settings = settings;
    this.#socket = socket;
    this.#client = createClient(settings, this.#transport(socket, settings));
    this.#client.on('error', (error) => this.#fail(this.#endedBy(error)));
    this.#client.on('exists', ({ count }) => {
      if (count <= MAX_FOLDER_MESSAGES) return;
      this.#fail(this.#unavailable('tells of too many messages'));
    });
  }

  /** True for a server with labels, such as Gmail: a message has one id and is in as many folders as it has labels. */
  get hasLabels(): boolean {
    return this.#client.capabilities.has('X-GM-EXT-1');
  }

  /** Prefixes of the folders of this user, of those of other users, and of shared ones (RFC 2342). */
  get namespaces(): { own: readonly string[]; others: readonly string[] } {
    const { personal = [], other, shared } = this.#client.namespaces ?? {};
    const prefixesOf = (list: readonly { prefix: string }[] | false | undefined) =>
      (list || []).map(({ prefix }) => prefix);
    return { own: prefixesOf(personal), others: [...prefixesOf(other), ...prefixesOf(shared)] };
  }

  /**
   * Runs commands, whose responses may take as many octets and as much time as the limits say.
   * @throws CommandRefused when the server answers NO or BAD; SourceError when the session has ended, also for the next exchanges
   */
  async exchange<Result>(
    { maxBytes, timeoutMs }: ExchangeLimits,
    run: (commands: Commands) => Promise<Result>,
  ): Promise<Result> {
    if (this.#failure) throw this.#failure;
    this.#leftBytes = maxBytes;
    const timer = this.#clock.after(timeoutMs, () => {
      this.#fail(this.#unavailable('did not answer in time'));
    });
    try {
      return await this.#untilFailure(run(this.#client));
    } catch (error) {
      throw this.#failure ?? this.#describeFailure(error);
    } finally {
      timer.cancel();
      this.#interrupt = undefined;
      this.#leftBytes = UNASKED_BYTES;
    }
  }

  /**
   * Settles like the work, or when the session ends. With `Promise.race`, a promise that lasts as long as the session would keep the
   * results of all exchanges in memory, which are all messages.
   */
  #untilFailure<Result>(work: Promise<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#interrupt = reject;
    work.then(resolve, reject);
    return promise;
  }

  /** Ends the session. */
  close(): void {
    this.#failure ??= new SourceError('source_unavailable', 'The session has ended');
    this.#interrupt?.(this.#failure);
    this.#client.close();
    this.#socket.destroy();
  }

  #fail(failure: SourceError): void {
    this.#failure ??= failure;
    this.close();
  }

  #describeFailure(error: unknown): Error {
    const { responseStatus, responseText, authenticationFailed } = error as ImapError;
    const text = responseText ?? errorMessage(error);
    const { host, hasLoggedIn } = this.#settings;
    const canPass = authenticationFailed === true && hasLoggedIn && !isFinal(error as ImapError);
    if (canPass || isTemporary(error as ImapError)) {
      this.#fail(new SourceError('source_unavailable', `${host}: ${sourceText(text)}`));
      return this.#failure as SourceError;
    }
    if (authenticationFailed)
      return new SourceError('login_refused', `${host} refuses the login: ${sourceText(text)}`);
    if (responseStatus === 'NO' || responseStatus === 'BAD') return new CommandRefused(sourceText(text));
    const failure = this.#endedBy(error);
    this.#fail(failure);
    return failure;
  }

  /** Returns the failure of a server that says or does something wrong. */
  #unavailable(what: string): SourceError {
    if (!this.#hasGreeted) return new NoImapServer(this.#settings);
    return new SourceError('source_unavailable', `${this.#settings.host} ${what}`);
  }

  #endedBy(error: unknown): SourceError {
    const { host } = this.#settings;
    const text = sourceText(errorMessage(error));
    if (isCertificateError(error))
      return new SourceError('source_refused', `The certificate of ${host} is not valid: ${text}`);
    if (/STARTTLS/.test(text)) return new SourceError('source_refused', `${host}: ${text}`);
    const code = errorCode(error);
    const details = code !== undefined && !text.includes(code) ? `${text} (${code})` : text;
    return this.#unavailable(`has ended the session: ${details}`);
  }

  /** Returns a transport over a connection that is open. The library connects to nothing by itself. */
  #transport(socket: Socket, { host, security }: SourceSettings): ImapTransport {
    let isFirst = true;
    const count = (octets: Buffer): void => {
      if (isFirst) {
        isFirst = false;
        this.#hasGreeted = octets[0] === UNTAGGED;
        if (!this.#hasGreeted) this.#fail(this.#unavailable('sends no greeting'));
      }
      this.#leftBytes -= Math.max(octets.length, MIN_PIECE_BYTES);
      if (this.#leftBytes < 0) this.#fail(this.#unavailable('sends more than it was asked for'));
    };
    // The library begins to read the socket when it is told that the connection is open, and not later.
    const counted = <Stream extends Duplex>(stream: () => Stream, begin: () => void) => {
      return () => {
        begin();
        stream().prependListener('data', count);
      };
    };
    return {
      connect(_options, onConnect) {
        if (security === 'tls') {
          const secure = connectVerified(socket, host, () => counted(() => secure, onConnect)());
          return secure;
        }
        setImmediate(counted(() => socket, onConnect));
        return socket;
      },
      upgrade(_plain, _options, onSecure) {
        socket.off('data', count);
        const secure = connectVerified(socket, host, () => counted(() => secure, onSecure)());
        return secure;
      },
    };
  }
}

/** Fields that the library adds to its errors. `response` is the response or its text. */
type ImapError = {
  code?: string;
  response?: string | { attributes?: readonly { section?: readonly { value?: unknown }[] }[] };
  responseStatus?: string;
  responseText?: string;
  serverResponseCode?: string;
  authenticationFailed?: boolean;
};

/** Response codes of refusals that pass (RFC 5530 section 3); providers use THROTTLED and OVERQUOTA for too much at a time. */
const TEMPORARY_CODES = new Set(['UNAVAILABLE', 'SERVERBUG', 'INUSE', 'LIMIT', 'THROTTLED', 'OVERQUOTA']);
/**
 * Response codes of logins that are refused for good (RFC 5530 section 3). A refusal without one may mean that there are too many
 * sessions, when the same password was right before.
 */
const FINAL_CODES = new Set(['AUTHENTICATIONFAILED', 'AUTHORIZATIONFAILED', 'EXPIRED', 'PRIVACYREQUIRED']);

/** Returns true when the server refuses what it may accept later. */
function isTemporary(error: ImapError): boolean {
  return error.code === 'ETHROTTLE' || TEMPORARY_CODES.has(responseCode(error));
}

function isFinal(error: ImapError): boolean {
  return FINAL_CODES.has(responseCode(error));
}

function responseCode({ response, serverResponseCode }: ImapError): string {
  const section = typeof response === 'object' ? response.attributes?.[0]?.section?.[0]?.value : undefined;
  return String(serverResponseCode ?? section ?? '').toUpperCase();
}

function createClient(
  { host, port, security, user, password }: SourceSettings,
  transport: ImapTransport,
): ImapFlow {
  const client = new ImapFlow({
    host,
    port,
    transport,
    ...(security === 'tls' ? { secure: true } : { secure: false, doSTARTTLS: true }),
    auth: { user, pass: password },
    clientInfo: { name: 'Postrider', version: VERSION },
    logger: false,
    // The exchanges have limits of their own; these are only not to be the shorter ones.
    connectionTimeout: 2 * CONTACT_MS,
    greetingTimeout: 2 * CONTACT_MS,
    // Compressed octets cost more to read than they save, and a few of them can become very many.
    disableCompression: true,
    disableAutoEnable: true,
    disableAutoIdle: true,
    disableBinary: true,
    disableIMAP4rev2: true,
    maxLiteralSize: MAX_LITERAL_BYTES,
    maxResponseSize: MAX_LITERAL_BYTES + RESPONSE_BYTES,
    maxLineLength: MAX_LINE_BYTES,
    maxResponseTokens: MAX_RESPONSE_TOKENS,
  });
  // The library visits each number of a range that the server sends, and 16 million of them take seconds. An import needs no such responses.
  return Object.assign(client, { untaggedVanished: () => Promise.resolve() });
}
