/**
 * Opens an SMTP session to one address of one host: connect, banner, EHLO, STARTTLS if it is offered, EHLO again, and the
 * login to a relay. An error of the peer is a result, never an exception. The caller decides whether plaintext is acceptable.
 */
import type { Socket } from 'node:net';
import type { System } from '../../../system/system.ts';
import type { SmtpReply } from '../reply.ts';
import { command, readReply } from './command.ts';
import { SmtpConnection } from './connection.ts';
import type { Envelope } from './envelope.ts';
import type { SmtpTls } from './events.ts';
import { networkError, protocolError, SmtpError, type SmtpFailure, unexpected } from './failure.ts';
import { type LoginSecrets, logIn, type SmtpLogin, secretsOf, withoutSecrets } from './login.ts';
import type { SmtpOptions } from './options.ts';
import { type ProbedRecipient, probeRecipient } from './probe.ts';
import { askForTls, notOffered, requireTls, requireVerified, startSession } from './start-tls.ts';
import { PRESSED_CONNECT_TIMEOUT_MS, type SmtpTimeouts } from './timeouts.ts';
import { newSession, type Transaction, transact } from './transaction.ts';

export type SmtpSession = {
  readonly tls: SmtpTls | undefined;
  /** EHLO keywords in upper case, each with its parameters (RFC 5321 section 4.1.1.1). */
  readonly extensions: ReadonlyMap<string, string>;
  /** Returns false once the peer has closed the connection, or has sent anything while the session was idle. */
  isOpen(): boolean;
  /** The secrets of the login, which replies of the server may repeat; undefined without a login. */
  readonly secrets: LoginSecrets | undefined;
  transact(envelope: Envelope): Transaction;
  /** Asks whether the server takes mail for the only recipient of the envelope, and sends no message. */
  probe(envelope: Envelope): Promise<ProbedRecipient>;
  /**
   * Sends QUIT and closes the connection. It always resolves, at the latest after `quitMs`. A transaction without a result
   * fails at once.
   */
  quit(): Promise<void>;
  /** Closes the connection at once. A transaction without a result fails for this reason. */
  close(reason?: Error): void;
};

export type OpenedSmtp = ({ ok: true; session: SmtpSession } | { ok: false; failure: SmtpFailure }) & {
  /** Address of this machine that the connection left from; undefined when there was no connection. */
  localAddress?: string | undefined;
};

/** Kinds of sessions whose certificate must be valid. */
const VERIFIED: ReadonlySet<SmtpOptions['tls']> = new Set(['starttls', 'implicit', 'dane']);

/** A host name or an address literal (RFC 5321 sections 2.3.5 and 4.1.3), without any character that could end the line. */
const HELO_NAME = /^(?:[A-Za-z0-9._-]{1,255}|\[[A-Za-z0-9.:]{1,64}\])$/;

/** Opens a session, or returns why it failed. @throws only for errors of this side, such as a throwing `onPhase` */
export async function openSmtp(
  world: Pick<System, 'clock' | 'dial'>,
  options: SmtpOptions,
): Promise<OpenedSmtp> {
  let connection: SmtpConnection | undefined;
  let localAddress: string | undefined;
  const { cut } = options;
  const onCut = () => connection?.destroy(cut?.reason);
  cut?.addEventListener('abort', onCut);
  try {
    const socket = await connect(world, options);
    ({ localAddress } = socket);
    connection = new SmtpConnection(world.clock, socket, options.isPressed);
    if (cut?.aborted) onCut();
    let tls: SmtpTls | undefined;
    if (options.tls === 'implicit') {
      ({ connection, tls } = await startSession(world.clock, connection, options));
      requireVerified(tls);
    }
    await readBanner(connection, options);
    let extensions = await greet(connection, options);
    if (options.tls !== 'none' && options.tls !== 'implicit' && extensions.has('STARTTLS')) {
      await askForTls(connection, options);
      ({ connection, tls } = await startSession(world.clock, connection, options));
      // The client must forget what it learned before the handshake (RFC 3207 section 4.2).
      extensions = await greet(connection, options);
    }
    if (options.tls === 'required') requireTls(tls, extensions);
    if (VERIFIED.has(options.tls) || options.login !== undefined) requireVerified(tls);
    if (options.tls === 'encrypted' && !tls) throw notOffered();
    const { login, timeouts, observer } = options;
    if (login) {
      await logIn(connection, login, { extensions, timeoutMs: timeouts.authMs, observer });
      options.onPhase?.('auth');
    }
    const session = openSession(connection, { extensions, tls, timeouts, login });
    return { ok: true, session, localAddress };
  } catch (error) {
    if (!(error instanceof SmtpError)) {
      connection?.destroy();
      throw error;
    }
    const { failure } = error;
    if (failure.kind !== 'reply') options.observer?.({ kind: 'failed', failure });
    if (connection) abandon(connection, failure);
    return { ok: false, failure, localAddress };
  } finally {
    cut?.removeEventListener('abort', onCut);
  }
}

async function connect(world: Pick<System, 'dial'>, options: SmtpOptions): Promise<Socket> {
  if (!HELO_NAME.test(options.heloName)) throw protocolError('ehlo', 'the name for EHLO is not a host name');
  const { address, port, timeouts, isPressed, cut, mayBePrivate = false } = options;
  if (cut?.aborted) throw networkError('connect', cut.reason);
  const timeoutMs = isPressed?.()
    ? Math.min(timeouts.connectMs, PRESSED_CONNECT_TIMEOUT_MS)
    : timeouts.connectMs;
  options.observer?.({ kind: 'connecting', host: options.serverName, address, port });
  try {
    const dialled = world.dial({ address, port, timeoutMs, mayBePrivate });
    const socket = await (cut ? untilCut(dialled, cut) : dialled);
    options.onPhase?.('connect');
    options.observer?.({ kind: 'connected' });
    return socket;
  } catch (error) {
    throw networkError('connect', error);
  }
}

/** Resolves to the socket, and rejects once the signal is aborted. A socket that connects later is closed. */
function untilCut(dialled: Promise<Socket>, cut: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const onCut = () => {
      reject(cut.reason);
      dialled.then(
        (socket) => socket.destroy(),
        () => {},
      );
    };
    cut.addEventListener('abort', onCut);
    dialled.then(resolve, reject).finally(() => cut.removeEventListener('abort', onCut));
  });
}

async function readBanner(connection: SmtpConnection, options: SmtpOptions): Promise<void> {
  connection.expect(1);
  const { timeouts, observer } = options;
  const banner = await readReply(connection, { phase: 'banner', timeoutMs: timeouts.bannerMs, observer });
  if (banner.code !== 220) throw unexpected('banner', banner);
  options.onPhase?.('banner');
}

/** Sends EHLO, or HELO to a server that does not know EHLO (RFC 5321 section 3.2). Returns the extensions that the server offers. */
async function greet(connection: SmtpConnection, options: SmtpOptions): Promise<Map<string, string>> {
  const { heloName, timeouts, observer } = options;
  const sent = { phase: 'ehlo', timeoutMs: timeouts.ehloMs, observer } as const;
  let reply = await command(connection, { ...sent, line: `EHLO ${heloName}` });
  const isExtended = reply.code === 250;
  if (reply.code >= 500) reply = await command(connection, { ...sent, line: `HELO ${heloName}` });
  if (reply.code !== 250) throw unexpected('ehlo', reply);
  options.onPhase?.('ehlo');
  return isExtended ? parseExtensions(reply) : new Map();
}

function parseExtensions(reply: SmtpReply): Map<string, string> {
  const extensions = new Map<string, string>();
  for (const line of reply.lines.slice(1)) {
    const [keyword = '', ...parameters] = line.trim().split(/ +/);
    if (keyword !== '') extensions.set(keyword.toUpperCase(), parameters.join(' '));
  }
  return extensions;
}

/** Sends QUIT to a peer that answered (RFC 5321 section 3.1 asks for it even after 554), but does not wait for the reply. */
function abandon(connection: SmtpConnection, failure: SmtpFailure): void {
  if (failure.kind === 'reply' && connection.isOpen) connection.endWith('QUIT\r\n');
  else connection.destroy();
}

type Greeted = {
  extensions: ReadonlyMap<string, string>;
  tls: SmtpTls | undefined;
  timeouts: SmtpTimeouts;
  login?: SmtpLogin | undefined;
};

function openSession(connection: SmtpConnection, { extensions, tls, timeouts, login }: Greeted): SmtpSession {
  const state = newSession(connection, extensions, timeouts);
  const secrets = login && secretsOf(login);
  return {
    tls,
    extensions,
    secrets,
    isOpen: () => connection.isOpen && (state.pending > 0 || !connection.hasInput),
    transact: (envelope) => transact(state, withoutSecretsSeen(envelope, secrets)),
    probe: (envelope) => probeRecipient(state, withoutSecretsSeen(envelope, secrets)),
    async quit() {
      try {
        if (state.pending === 0)
          await command(connection, {
            phase: 'quit',
            line: 'QUIT',
            timeoutMs: timeouts.quitMs,
            observer: undefined,
          });
      } catch (error) {
        if (!(error instanceof SmtpError)) throw error;
      } finally {
        connection.destroy();
      }
    },
    close: (reason) => connection.destroy(reason),
  };
}

/** Returns the envelope with an observer that sees no secrets of the login in the replies of the server. */
function withoutSecretsSeen(envelope: Envelope, secrets: LoginSecrets | undefined): Envelope {
  const { observer } = envelope;
  if (!observer || !secrets) return envelope;
  return {
    ...envelope,
    observer: (event) =>
      observer(
        event.kind === 'received' ? { kind: 'received', reply: withoutSecrets(event.reply, secrets) } : event,
      ),
  };
}
