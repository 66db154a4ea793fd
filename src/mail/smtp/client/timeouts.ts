/**
 * How long each phase of a session may take, in milliseconds. RFC 5321 4.5.3.2 gives the least a client should wait;
 * where ours are shorter, the difference is named.
 */

export type SmtpTimeouts = {
  connectMs: number;
  bannerMs: number;
  /** The answer to EHLO or HELO. */
  ehloMs: number;
  /** The answer to STARTTLS and the handshake, each. */
  startTlsMs: number;
  mailMs: number;
  rcptMs: number;
  dataMs: number;
  /** For each write of the body, until the peer has taken it. */
  blockMs: number;
  dotMs: number;
  resetMs: number;
  quitMs: number;
};

export const DEFAULT_SMTP_TIMEOUTS: SmtpTimeouts = {
  // No minimum of its own in RFC 5321; a host that is up answers a SYN within seconds.
  connectMs: 30_000,
  // RFC 5321 4.5.3.2.1 asks for five minutes: `LATER_SMTP_TIMEOUTS`, once a first attempt was made.
  bannerMs: 60_000,
  ehloMs: 60_000,
  startTlsMs: 30_000,
  // RFC 5321 4.5.3.2.2
  mailMs: 300_000,
  // RFC 5321 4.5.3.2.3
  rcptMs: 300_000,
  // RFC 5321 4.5.3.2.4
  dataMs: 120_000,
  // RFC 5321 4.5.3.2.5
  blockMs: 180_000,
  // RFC 5321 4.5.3.2.6: ten minutes. A shorter wait makes duplicates, for the peer may have taken the message.
  dotMs: 600_000,
  // Nothing is at stake any more.
  resetMs: 10_000,
  quitMs: 2_000,
};

/** For every attempt after the first: a slow peer gets the five minutes of RFC 5321 4.5.3.2.1. */
export const LATER_SMTP_TIMEOUTS: SmtpTimeouts = {
  ...DEFAULT_SMTP_TIMEOUTS,
  bannerMs: 300_000,
  ehloMs: 300_000,
};

/**
 * Maximum wait for a peer while connections are scarce (`SmtpOptions.isPressed`). It ends a session that would
 * otherwise wait for the minutes of RFC 5321 4.5.3.2, which are a SHOULD. Postfix lowers its server's timeout from 300
 * s to 10 s under stress. A client needs the service of its peer, so ours waits longer than the 20 s by which receivers
 * at most delay strangers on purpose. The wait for the answer to the final dot is never shortened: the peer may have
 * taken the message, and a second attempt would make a duplicate (RFC 5321 4.5.3.2.6).
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
