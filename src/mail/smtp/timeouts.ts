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
