/**
 * The events of an SMTP session, for an observer: what this side and the peer said, and what happened to the connection. They never hold
 * the content of a message, and no secrets of a login. Events are plain data that the session has in memory anyway, so that
 * observing costs next to nothing.
 */
import type { SmtpReply } from '../reply.ts';
import type { CertificateProblem, SmtpFailure } from './failure.ts';

export type SmtpTls = {
  /** Protocol version, such as `TLSv1.3`. */
  version: string;
  cipher: string;
  /** True when the certificate passes verification. Opportunistic TLS continues without it (RFC 7435). */
  authorized: boolean;
  /** Why the certificate does not pass; undefined when it does. */
  fault: string | undefined;
  /** The name of the fault in reports about TLS; absent when the certificate passes. */
  problem?: CertificateProblem;
  /** Name of the recipients' domain or of the host that the certificate passes by; absent when TLSA records ask for no name. */
  provenName?: string;
};

export type SmtpEvent =
  /** The dial begins. `host` is the name of the server that has the address. */
  | { kind: 'connecting'; host: string; address: string; port: number }
  | { kind: 'connected' }
  | { kind: 'tls'; tls: SmtpTls }
  /** One or several commands, each with its line end. */
  | { kind: 'sent'; commands: string }
  | { kind: 'received'; reply: SmtpReply }
  /** The content of a message was written, apart from its final dot. */
  | { kind: 'content'; sizeBytes: number }
  /** The session or a transaction ended for a reason other than a reply. */
  | { kind: 'failed'; failure: Exclude<SmtpFailure, { kind: 'reply' }> };

export type SmtpObserver = (event: SmtpEvent) => void;
