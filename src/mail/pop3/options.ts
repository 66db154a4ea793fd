/** Settings of one POP3 listener, and its limits. */
import { ACCESS_LIMITS, type AccessLimits, type AccessServerOptions } from '../access/options.ts';
import type { OpenSession } from './session.ts';

export type Pop3ServerOptions = AccessServerOptions & {
  /** Name of the program, for the capability IMPLEMENTATION (RFC 2449 section 6.9). */
  implementation: string;
  openSession: OpenSession;
  limits?: Partial<Pop3Limits>;
};

export type Pop3Limits = AccessLimits & {
  /** Maximum length of a command. */
  commandBytes: number;
};

const MINUTE_MS = 60_000;

export const DEFAULT_LIMITS: Pop3Limits = {
  ...ACCESS_LIMITS,
  // Clients connect, take their mail and leave.
  connections: 2_000,
  connectionsPerAddress: 100,
  // Servers read 255 octets (RFC 2449 section 4); the initial response of AUTH is longer in practice. Our own limit.
  commandBytes: 16 * 1024,
  // At least 10 minutes (RFC 1939 section 3). Until then nobody else can have the maildrop of a client that was lost.
  commandMs: 10 * MINUTE_MS,
};
