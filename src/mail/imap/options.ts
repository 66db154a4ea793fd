/** Settings of one IMAP listener, and its limits. */
import { ACCESS_LIMITS, type AccessLimits, type AccessServerOptions } from '../access/options.ts';
import type { OpenSession } from './session.ts';

export type ImapServerOptions = AccessServerOptions & {
  /** Fields that answer ID (RFC 2971 section 3.3), such as the name of the program. */
  id?: Readonly<Record<string, string>>;
  openSession: OpenSession;
  limits?: Partial<ImapLimits>;
};

export type ImapLimits = AccessLimits & {
  /** Maximum size of a message in APPEND. */
  messageBytes: number;
  /** Maximum size of a command, and of a literal in it, before login and after it. Messages have a limit of their own. */
  earlyCommandBytes: number;
  earlyLiteralBytes: number;
  commandBytes: number;
  /** Time for the next piece of a command or of a message. */
  dataBlockMs: number;
  /** Time after which a client in IDLE is sent a line, so that nothing on the way forgets the connection. */
  keepAliveMs: number;
  /** Time after the beginning of IDLE in which nothing is reported yet; 0 for none. */
  idleBeginMs: number;
};

const MINUTE_MS = 60_000;
const KIB = 1024;

export const DEFAULT_LIMITS: ImapLimits = {
  ...ACCESS_LIMITS,
  // Providers accept 25 to 50 MB, counted after base64, which adds a third. SMTP has the same limit.
  messageBytes: 40 * KIB * KIB,
  // ID has up to 30 values of 1,024 octets (RFC 2971 section 3.3), and a client may send it before it logs in.
  earlyCommandBytes: 64 * KIB,
  earlyLiteralBytes: 4 * KIB,
  // Lines of 8,192 octets must be read (RFC 7162 section 4); sets of numbers in large mailboxes are longer. Our own limit.
  commandBytes: 256 * KIB,
  dataBlockMs: 3 * MINUTE_MS,
  // Many home routers forget a connection after 3 to 5 minutes. The time is no round one, so that it does not race a timeout that is.
  keepAliveMs: 2 * MINUTE_MS - 5_000,
  // Thunderbird leaves a change that it receives together with the beginning of IDLE unread until something else comes. Our own limit.
  idleBeginMs: 200,
};
