/**
 * The maximum time of each phase of a session, in milliseconds. RFC 5321 section 4.5.3.2 gives the minimum that a client should
 * wait. A comment says so wherever our value is shorter.
 */

export type SmtpTimeouts = {
  connectMs: number;
  bannerMs: number;
  /** Wait for the answer to EHLO or HELO. */
  ehloMs: number;
  /** Wait for the answer to STARTTLS, and again for the handshake. */
  startTlsMs: number;
  /** Wait for the answer to each line of a login. */
  authMs: number;
  mailMs: number;
  rcptMs: number;
  dataMs: number;
  /** Wait of each write of the body until the peer has accepted it. */
  blockMs: number;
  /** Wait for the answer to the final dot. */
  dotMs: number;
  resetMs: number;
  quitMs: number;
};

export const DEFAULT_SMTP_TIMEOUTS: SmtpTimeouts = {
  // A host that is up answers a SYN within seconds. RFC 5321 has no minimum for connecting.
  connectMs: 30_000,
  // The first attempt waits shorter than the five minutes of RFC 5321 section 4.5.3.2.1; later ones do (`LATER_SMTP_TIMEOUTS`).
  bannerMs: 60_000,
  ehloMs: 60_000,
  startTlsMs: 30_000,
  // RFC 4954 names no minimum. Servers delay the answer to a wrong password by some seconds.
  authMs: 60_000,
  // Minimum of RFC 5321 section 4.5.3.2.2.
  mailMs: 300_000,
  // Minimum of RFC 5321 section 4.5.3.2.3.
  rcptMs: 300_000,
  // Minimum of RFC 5321 section 4.5.3.2.4.
  dataMs: 120_000,
  // Minimum of RFC 5321 section 4.5.3.2.5.
  blockMs: 180_000,
  // A wait shorter than the ten minutes of RFC 5321 section 4.5.3.2.6 makes duplicates: the peer may have taken the message.
  dotMs: 600_000,
  // A session that fails at RSET or QUIT loses no message, so these waits are short.
  resetMs: 10_000,
  quitMs: 2_000,
};

/** Timeouts of every attempt after the first: a slow peer gets the five minutes of RFC 5321 section 4.5.3.2.1. */
export const LATER_SMTP_TIMEOUTS: SmtpTimeouts = {
  ...DEFAULT_SMTP_TIMEOUTS,
  bannerMs: 300_000,
  ehloMs: 300_000,
};

/**
 * Maximum wait for a peer while connections are scarce (`SmtpOptions.isPressed`). It ends a session that would
 * otherwise wait for the minutes of RFC 5321 section 4.5.3.2, which are a SHOULD. Postfix lowers its server's timeout from 300
 * s to 10 s under stress. A client needs the service of its peer, so ours waits longer than the 20 s by which receivers
 * at most delay strangers on purpose. The wait for the answer to the final dot is never shortened: the peer may have
 * taken the message, and a second attempt would make a duplicate (RFC 5321 section 4.5.3.2.6).
 */
export const PRESSED_TIMEOUT_MS = 30_000;
/**
 * Maximum wait for TCP to connect while connections are scarce: a host that is up answers one of the SYNs that are sent
 * after 0, 1, 3 and 7 s.
 */
export const PRESSED_CONNECT_TIMEOUT_MS = 10_000;
/**
 * Period in which a wait beyond `PRESSED_TIMEOUT_MS` checks whether connections have become scarce, in milliseconds.
 */
export const PRESSED_CHECK_MS = 1_000;

/**
 * Minimum rate at which a peer takes a message, in bytes per millisecond, once it has waited for `blockMs` in all. It is that of Postfix
 * (`smtp_min_data_rate`, 500 bytes a second). A peer that takes one block just before each time limit would otherwise hold its connection
 * for the whole time of a delivery.
 */
const MIN_BYTES_PER_MS = 0.5;
/**
 * Time for the answer to each RCPT of a transaction beyond `rcptMs`, which is that of all of them together, in milliseconds. Receivers at
 * most delay strangers by this much on purpose.
 */
const RCPT_DELAY_MS = 20_000;

/** Returns the maximum time, in milliseconds, in which a peer takes so many bytes of a message. */
export function bodyLimitMs({ blockMs }: Pick<SmtpTimeouts, 'blockMs'>, sizeBytes: number): number {
  return blockMs + sizeBytes / MIN_BYTES_PER_MS;
}

/** Returns the maximum time, in milliseconds, in which a peer answers the RCPT commands of a transaction. */
export function recipientsLimitMs({ rcptMs }: Pick<SmtpTimeouts, 'rcptMs'>, recipients: number): number {
  return rcptMs + recipients * RCPT_DELAY_MS;
}
