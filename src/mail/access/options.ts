/** Settings and limits that listeners for IMAP, POP3 and ManageSieve have in common. */
import type { ListenerLimits, ListenerOptions } from '../connection/listener.ts';

export type AccessServerOptions = ListenerOptions;

export type AccessLimits = ListenerLimits & {
  /** Number of refused commands, of all commands and of octets after which a connection without a login ends. */
  earlyErrors: number;
  earlyCommands: number;
  earlyBytes: number;
  /** Time from the beginning of a connection to its login, and in it for the next command. */
  loginMs: number;
  earlyCommandMs: number;
  /** Time for the next command. */
  commandMs: number;
  /** Time in which a client must read some of its responses. */
  readMs: number;
  handshakeMs: number;
};

const MINUTE_MS = 60_000;

export const ACCESS_LIMITS: AccessLimits = {
  // A client holds about five connections for all of its time.
  connections: 20_000,
  connectionsPerAddress: 200,
  connectionsPerMinute: 600,
  earlyErrors: 20,
  // Clients need five or six commands, and their exchanges are small.
  earlyCommands: 100,
  earlyBytes: 1024 * 1024,
  loginMs: MINUTE_MS,
  earlyCommandMs: MINUTE_MS,
  // A server waits at least 30 minutes (RFC 9051 section 5.4).
  commandMs: 31 * MINUTE_MS,
  readMs: 10 * MINUTE_MS,
  handshakeMs: MINUTE_MS / 2,
};

/** Limits of clients without a login while the listener is nearly full (connection/occupancy.ts). Postfix has times as short (STRESS_README). */
export const ACCESS_STRESS_LIMITS = {
  // Some programs try what a server may not have before they log in.
  earlyErrors: 3,
  earlyCommands: 10,
  earlyCommandMs: 10_000,
  handshakeMs: 10_000,
} as const satisfies Partial<AccessLimits>;

/** Maximum number of bytes that wait to be sent to one client. Beyond it, its responses are not produced. */
export const MAX_UNSENT_BYTES = 512 * 1024;
