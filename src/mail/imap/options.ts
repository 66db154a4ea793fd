/** Settings of one IMAP listener, and its limits. */
import type { CertificateStore } from '../../system/certificates.ts';
import type { Endpoint } from '../../system/listen.ts';
import type { OpenSession } from './session.ts';

export type ImapServerOptions = {
  /** Section of the configuration that the address and the port come from; also names the listener in the metrics. */
  section: string;
  at: Endpoint;
  /** Name of this server in the greeting. */
  hostname: string;
  /** Fields that answer ID (RFC 2971 section 3.3), such as the name of the program. */
  id?: Readonly<Record<string, string>>;
  /** `starttls` offers TLS; `immediate` begins every connection with it (RFC 8314 section 3.2). */
  tls: { mode: 'starttls' | 'immediate'; certificates: CertificateStore } | undefined;
  openSession: OpenSession;
  limits?: Partial<ImapLimits>;
};

export type ImapLimits = {
  /** Maximum size of a message in APPEND. */
  messageBytes: number;
  /** Maximum number of open connections, and of those of one address. */
  connections: number;
  connectionsPerAddress: number;
  /** Number of new connections of one address within a minute. */
  connectionsPerMinute: number;
  /** Maximum size of a command, and of a literal in it, before login and after it. Messages have a limit of their own. */
  earlyCommandBytes: number;
  earlyLiteralBytes: number;
  commandBytes: number;
  /** Number of refused commands after which a connection without a login ends. */
  earlyErrors: number;
  /** Time from the beginning of a connection to its login. */
  loginMs: number;
  /** Time for the next command. */
  commandMs: number;
  /** Time for the next piece of a command or of a message. */
  dataBlockMs: number;
  /** Time in which a client must read some of its responses. */
  readMs: number;
  /** Time after which a client in IDLE is sent a line, so that nothing on the way forgets the connection. */
  keepAliveMs: number;
  handshakeMs: number;
};

const MINUTE_MS = 60_000;
const KIB = 1024;

export const DEFAULT_LIMITS: ImapLimits = {
  // Providers accept 25 to 50 MB, counted after base64, which adds a third. Our own limit, the same as that of SMTP.
  messageBytes: 40 * KIB * KIB,
  // Each client holds about five connections for all of its time. Our own limits.
  connections: 20_000,
  connectionsPerAddress: 200,
  connectionsPerMinute: 600,
  // ID has up to 30 values of 1,024 octets (RFC 2971 section 3.3), and a client may send it before it logs in.
  earlyCommandBytes: 64 * KIB,
  earlyLiteralBytes: 4 * KIB,
  // Lines of 8,192 octets must be read (RFC 7162 section 4); sets of numbers in large mailboxes are longer. Our own limit.
  commandBytes: 256 * KIB,
  earlyErrors: 20,
  loginMs: MINUTE_MS,
  // A server waits at least 30 minutes (RFC 9051 section 5.4).
  commandMs: 31 * MINUTE_MS,
  dataBlockMs: 3 * MINUTE_MS,
  readMs: 10 * MINUTE_MS,
  // Many home routers forget a connection after 3 to 5 minutes. The time is no round one, so that it does not race a timeout that is.
  keepAliveMs: 2 * MINUTE_MS - 5_000,
  handshakeMs: MINUTE_MS / 2,
};

/** Maximum number of bytes that wait to be sent to one client. Beyond it, its responses are not produced. */
export const MAX_UNSENT_BYTES = 512 * KIB;
