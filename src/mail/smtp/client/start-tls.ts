/** TLS of an SMTP session: asks for it, runs the handshake, and checks what the session requires of it. */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../../system/clock.ts';
import { errorCode, errorMessage } from '../../../system/errors.ts';
import { startTls, type TlsHello } from '../../../system/tls.ts';
import { verifyDane } from '../../tls-policy/dane-verify.ts';
import { replyText } from '../reply.ts';
import { command } from './command.ts';
import { SmtpConnection } from './connection.ts';
import type { SmtpTls } from './events.ts';
import { type CertificateProblem, protocolError, SmtpError, type TlsProblem, unexpected } from './failure.ts';
import type { SmtpOptions } from './options.ts';
import type { CertificateVerdict, TicketKey } from './tickets.ts';

const HELLOS = {
  opportunistic: 'default',
  reduced: 'reduced',
  none: 'default',
  encrypted: 'default',
  // Neither the authorities of the system nor the dates of a certificate decide here.
  dane: 'default',
  required: 'verified',
  starttls: 'verified',
  implicit: 'verified',
} as const satisfies Record<SmtpOptions['tls'], TlsHello>;

/** Kinds of sessions that open whatever the certificate is. */
const ANY_CERTIFICATE: ReadonlySet<SmtpOptions['tls']> = new Set(['opportunistic', 'reduced', 'encrypted']);

/**
 * Asks for TLS (RFC 3207 section 4). Plaintext that arrives after the 220 would be read as if TLS had protected it, so it ends
 * the session.
 */
export async function askForTls(
  connection: SmtpConnection,
  { timeouts, observer }: SmtpOptions,
): Promise<void> {
  const timeoutMs = timeouts.startTlsMs;
  const reply = await command(connection, { phase: 'starttls', line: 'STARTTLS', timeoutMs, observer });
  if (reply.code === 421) throw unexpected('starttls', reply);
  if (reply.code !== 220) throw tlsError('starttls-not-supported', `STARTTLS refused: ${replyText(reply)}`);
  if (connection.hasInput)
    throw protocolError('starttls', 'the peer sent plaintext after its answer to STARTTLS');
}

/** Runs the handshake over the socket of the connection, and returns the connection over the encrypted socket. */
export async function startSession(
  clock: Clock,
  connection: SmtpConnection,
  options: SmtpOptions,
): Promise<{ connection: SmtpConnection; tls: SmtpTls }> {
  const { serverName, dane, authorities, timeouts, tickets } = options;
  const key = ticketKeyOf(options);
  const ticket = tickets?.find(key);
  const name = dane?.base ?? serverName;
  try {
    const secure = await startTls(clock, connection.detach(), {
      // SNI carries a host name without its trailing dot, and never an address (RFC 6066 section 3).
      serverName: isIP(name) === 0 ? name.replace(/\.$/, '') : '',
      identity: serverName,
      authorities,
      hello: HELLOS[options.tls],
      timeoutMs: timeouts.startTlsMs,
      session: ticket?.session,
    });
    options.onPhase?.('starttls');
    const verdict = ticket && secure.isSessionReused() ? ticket.verdict : judge(secure, options, clock.now());
    // The next try at a certificate that must be valid and is not is a full handshake: the certificate may have been replaced.
    if (tickets && (verdict.authorized || ANY_CERTIFICATE.has(options.tls))) {
      const keep = (session: Buffer | undefined) => session && tickets.keep(key, session, verdict);
      secure.on('session', keep);
      // Before TLS 1.3 the session is there when the handshake ends, and its event has passed.
      if (secure.getProtocol() !== 'TLSv1.3') keep(secure.getSession());
    }
    const tls: SmtpTls = {
      version: secure.getProtocol() ?? 'unknown',
      cipher: secure.getCipher().name,
      ...verdict,
    };
    options.observer?.({ kind: 'tls', tls });
    return { connection: new SmtpConnection(clock, secure, options.isPressed), tls };
  } catch (error) {
    tickets?.drop(key);
    throw tlsError('validation-failure', errorMessage(error), error);
  }
}

function ticketKeyOf({ tls, dane, authorities, address, port, serverName }: SmtpOptions): TicketKey {
  const requirement = JSON.stringify([tls, dane ?? null, authorities ?? null]);
  return { requirement, address, port, serverName };
}

/** Returns what the certificate is worth: by the TLSA records of the host when there are any, or else by the authorities. */
function judge(secure: TLSSocket, { dane }: SmtpOptions, now: number): CertificateVerdict {
  if (dane) {
    const verdict = verifyDane(chainOf(secure), dane, now);
    if (verdict.ok) {
      const { name } = verdict;
      return { authorized: true, fault: undefined, ...(name !== undefined && { provenName: name }) };
    }
    return { authorized: false, fault: verdict.reason, problem: verdict.fault };
  }
  if (secure.authorized) return { authorized: true, fault: undefined };
  const { authorizationError: error } = secure;
  return { authorized: false, fault: errorMessage(error), problem: problemOf(error) };
}

/** Maximum number of certificates of a server that are read. Chains in use have at most five. Our own limit. */
const MAX_CHAIN = 10;

/** Returns the certificate of the server, followed by the others that it has sent, in their order. */
function chainOf(secure: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next = secure.getPeerX509Certificate();
  while (next && chain.length < MAX_CHAIN) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

function problemOf(error: unknown): CertificateProblem {
  const code = typeof error === 'string' ? error : (errorCode(error) ?? '');
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH')
    return 'certificate-host-mismatch';
  return code === 'CERT_HAS_EXPIRED' ? 'certificate-expired' : 'certificate-not-trusted';
}

/** Checks what REQUIRETLS asks of a session (RFC 8689 section 4.2.1). */
export function requireTls(tls: SmtpTls | undefined, extensions: ReadonlyMap<string, string>): void {
  const unmet = (status: '5.7.10' | '5.7.30', message: string) =>
    new SmtpError({ phase: 'starttls', kind: 'requirement', status, message });
  if (!tls) throw unmet('5.7.10', 'the host does not offer STARTTLS, which the message requires');
  if (!tls.authorized)
    throw unmet('5.7.10', 'the certificate is not valid for the host, as the message requires');
  if (!extensions.has('REQUIRETLS')) throw unmet('5.7.30', 'the host does not offer REQUIRETLS');
}

/** Checks that the certificate of the session is valid. */
export function requireVerified(tls: SmtpTls | undefined): void {
  if (!tls) throw notOffered();
  if (!tls.authorized)
    throw tlsError(tls.problem ?? 'validation-failure', `the certificate is not valid: ${tls.fault}`);
}

/** Returns the error for a host without STARTTLS whose session requires it. */
export function notOffered(): SmtpError {
  return tlsError('starttls-not-supported', 'the host does not offer STARTTLS');
}

function tlsError(problem: TlsProblem, message: string, cause?: unknown): SmtpError {
  return new SmtpError({ phase: 'starttls', kind: 'tls', message, problem }, cause);
}
