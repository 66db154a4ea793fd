/** Settings of one SMTP listener, and its limits. */
import type { ListenerLimits, ListenerOptions } from '../../connection/listener.ts';
import type { OpenSession } from './session.ts';

export type SmtpServerOptions = ListenerOptions & {
  protocol: 'smtp' | 'lmtp';
  openSession: OpenSession;
  /** Set for a listener at which clients log in and hand over mail of their own; undefined for others. */
  submission?: SubmissionOptions;
  /** True when clients without a login are offered DSN (RFC 3461). A session then keeps their parameters. */
  offersNotifications?: boolean;
  limits?: Partial<SmtpLimits>;
  /** Returns true for the address of a proxy, which must name its client first (PROXY protocol). */
  isProxy?: (address: string) => boolean;
  /** Returns true for a client to which the limits for each address do not apply. */
  isExempt?: (address: string) => boolean;
};

export type SubmissionOptions = {
  /** Maximum time for which a client may ask to hold a message, in seconds (RFC 4865 section 4). */
  maxHoldSeconds: number;
};

/** The limits for an address count blocks of addresses (system/address-block.ts). */
export type SmtpLimits = ListenerLimits & {
  /** Maximum size of a message. */
  messageBytes: number;
  /** Maximum number of recipients of a message. */
  recipients: number;
  /** Number of refused commands after which a connection ends. An accepted message sets it back. */
  errors: number;
  /** Number of commands that do not lead to a message, after which a connection ends. An accepted message sets it back. */
  idleCommands: number;
  /**
   * Number of recipients that are refused for good, after which a connection ends. An accepted message sets it back. It
   * does not apply to an address without limits (`isExempt`).
   */
  refusedRecipients: number;
  /** Maximum number of recipients that are refused for now, counted in the same way. */
  deferredRecipients: number;
  /** Time from the beginning of a connection to its login, at a listener for submission. */
  loginMs: number;
  /** Time for the next command. */
  commandMs: number;
  handshakeMs: number;
  proxyHeaderMs: number;
  /** Time for the next piece of a message. */
  dataBlockMs: number;
  /** Time that a client may take for a message in all: `dataMs`, and longer at the rate of `minBytesPerSecond`. */
  dataMs: number;
  minBytesPerSecond: number;
  maxDataMs: number;
};

const MINUTE_MS = 60_000;

export const DEFAULT_LIMITS: SmtpLimits = {
  // Providers accept 25 to 50 MB, counted after base64, which adds a third.
  messageBytes: 40 * 1024 * 1024,
  // A server must accept at least 100 (RFC 5321 section 4.5.3.1.8).
  recipients: 100,
  // 20,000 connections without input hold 15 KB each. Mox has the same limit for each address.
  connections: 20_000,
  connectionsPerAddress: 50,
  connectionsPerMinute: 300,
  // Postfix: smtpd_hard_error_limit and smtpd_junk_command_limit.
  errors: 20,
  idleCommands: 100,
  // Addresses are guessed in series; a mailing list has only some that no longer exist.
  refusedRecipients: 10,
  // A client may announce many more recipients than a message may have.
  deferredRecipients: 1_000,
  // IMAP has the same time.
  loginMs: MINUTE_MS,
  // A server should wait at least 5 minutes (RFC 5321 section 4.5.3.2.7).
  commandMs: 5 * MINUTE_MS,
  handshakeMs: MINUTE_MS / 2,
  proxyHeaderMs: 5_000,
  // A client has 3 minutes for a block (RFC 5321 section 4.5.3.2.5).
  dataBlockMs: 3 * MINUTE_MS,
  dataMs: 3 * MINUTE_MS,
  // Postfix: smtpd_min_data_rate. A message of the maximum size then takes less than a day, which `maxDataMs` bounds.
  minBytesPerSecond: 500,
  maxDataMs: 60 * MINUTE_MS,
};

/**
 * Limits while the listener is nearly full (connection/occupancy.ts). They do not apply to clients that have logged in, nor to those without
 * limits for each address (`isExempt`).
 */
export const STRESS_LIMITS = {
  // Postfix under stress (STRESS_README): smtpd_hard_error_limit, smtpd_timeout and smtpd_starttls_timeout. There the time for a message
  // is one for all of its blocks, too (smtpd_per_request_deadline).
  errors: 1,
  commandMs: 10_000,
  handshakeMs: 10_000,
  dataBlockMs: 10_000,
  dataMs: 10_000,
  // Postfix allows one. A client needs up to three before its message, and two more for each transaction that it gives up.
  idleCommands: 10,
} as const satisfies Partial<SmtpLimits>;
