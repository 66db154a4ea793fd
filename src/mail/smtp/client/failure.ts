/** Describes how an SMTP session fails, as a value. Inside this folder the value is thrown as an `SmtpError`. */
import { TimeoutError } from '../../../system/clock.ts';
import { SourceError } from '../../../system/dial/source-failure.ts';
import { errorCode, errorMessage } from '../../../system/errors.ts';
import { replyText, type SmtpReply } from '../reply.ts';

/** The step of a session. `starttls` is also TLS from the first byte; `dot` is the wait for the answer to the message. */
export type SmtpPhase =
  | 'connect'
  | 'banner'
  | 'ehlo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'dot'
  | 'quit';

/** The faults of a certificate, by the names of reports about TLS (RFC 8460 section 4.3.1). */
export type CertificateProblem =
  | 'certificate-host-mismatch'
  | 'certificate-expired'
  | 'certificate-not-trusted';

/** Why a session has no TLS as it must, by the names of reports about TLS (RFC 8460 section 4.3.1). */
export type TlsProblem = CertificateProblem | 'starttls-not-supported' | 'validation-failure';

export type SmtpFailure =
  /** The peer refused the session. */
  | { phase: SmtpPhase; kind: 'reply'; reply: SmtpReply }
  /**
   * `connection`: the connection was refused, reset or closed. `protocol`: the peer sent bytes that are not SMTP, or that
   * nobody asked for. `tls`: the handshake failed or was refused, so that the session would be in plaintext, or the certificate of a verified session is not valid. `local`: this
   * machine or the source of the connection lacked the means to connect, which says nothing about the peer.
   */
  | { phase: SmtpPhase; kind: 'timeout' | 'connection' | 'protocol' | 'local'; message: string }
  | { phase: SmtpPhase; kind: 'tls'; message: string; problem?: TlsProblem }
  /** The host cannot take mail with REQUIRETLS. `status` is an enhanced status code (RFC 8689 section 4.2.1). */
  | { phase: SmtpPhase; kind: 'requirement'; status: '5.6.7' | '5.7.10' | '5.7.30'; message: string };

export class SmtpError extends Error {
  override readonly name = 'SmtpError';
  readonly failure: SmtpFailure;

  constructor(failure: SmtpFailure, cause?: unknown) {
    super(failure.kind === 'reply' ? replyText(failure.reply) : failure.message, { cause });
    this.failure = failure;
  }
}

/** Returns the error for a peer that sends bytes that are not SMTP, or that nobody asked for. */
export function protocolError(phase: SmtpPhase, message: string): SmtpError {
  return new SmtpError({ phase, kind: 'protocol', message });
}

/** Returns the error for a reply that ends the session. */
export function unexpected(phase: SmtpPhase, reply: SmtpReply): SmtpError {
  if (reply.code >= 400) return new SmtpError({ phase, kind: 'reply', reply });
  return protocolError(phase, `the peer answered ${replyText(reply)}`);
}

/** Error codes of connect(2) and socket(2) for a lack of files, memory or ports on this machine. */
const LACKS: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL']);

/** Explains the errors of connect(2), read(2) and write(2) to somebody who does not know their names. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the host refused the connection',
  ECONNRESET: 'the host reset the connection',
  EPIPE: 'the host closed the connection',
  ETIMEDOUT: 'the host did not answer',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network of the host',
};

/** Returns the failure that an error of a socket or timer stands for. */
export function networkError(phase: SmtpPhase, error: unknown): SmtpError {
  const code = errorCode(error);
  return new SmtpError({ phase, kind: kindOf(error, code), message: describe(error, code) }, error);
}

function kindOf(error: unknown, code: string | undefined): 'timeout' | 'connection' | 'local' {
  if (error instanceof TimeoutError) return 'timeout';
  return error instanceof SourceError || LACKS.has(code ?? '') ? 'local' : 'connection';
}

function describe(error: unknown, code: string | undefined): string {
  const message = errorMessage(error);
  if (code === undefined) return message;
  const words = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  if (words !== undefined) return `${words} (${code})`;
  return message.includes(code) ? message : `${code}: ${message}`;
}
