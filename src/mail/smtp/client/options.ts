/** How a session opens: where to, with what TLS, and within what time. */
import type { DaneIdentity } from '../../tls-policy/dane-verify.ts';
import type { SmtpObserver } from './events.ts';
import type { SmtpPhase } from './failure.ts';
import type { SmtpLogin } from './login.ts';
import type { SmtpTickets } from './tickets.ts';
import type { SmtpTimeouts } from './timeouts.ts';

export type SmtpOptions = {
  /** An IP literal. */
  address: string;
  port: number;
  /** True when the operator has named the host with the permission to be private. */
  mayBePrivate?: boolean;
  /** Name of the host, for SNI (RFC 6066 section 3) and for the verification of its certificate. */
  serverName: string;
  heloName: string;
  /**
   * `opportunistic` uses STARTTLS if it is offered. `reduced` does the same with the smallest ClientHello (system/tls.ts),
   * for a second try at a host that broke off the first handshake. `required` is for mail with REQUIRETLS: the session opens only
   * over TLS, with a certificate that is valid for `serverName`, and with a server that offers REQUIRETLS. `encrypted` opens only
   * over TLS, with any certificate. `starttls` and `implicit` open only over TLS with a certificate that is valid for `serverName`;
   * with `implicit` TLS begins with the connection (RFC 8314 section 3.3). `dane` opens only over TLS with a certificate that `dane`
   * names.
   */
  tls: 'opportunistic' | 'reduced' | 'none' | 'encrypted' | 'required' | 'starttls' | 'implicit' | 'dane';
  /** The data that the certificate is compared with, and the name of the host in SNI (RFC 7672 section 8.1). `tls: 'dane'` needs it. */
  dane?: (DaneIdentity & { base: string }) | undefined;
  /** Sessions of TLS that are resumed. Without it each handshake is a full one. */
  tickets?: SmtpTickets | undefined;
  /** The only authorities that a verified session trusts, in PEM. Undefined means those of the system. */
  authorities?: string | undefined;
  /** Logs in before the session is used. It needs `starttls` or `implicit`: without a verified session nothing of it is sent. */
  login?: SmtpLogin | undefined;
  timeouts: SmtpTimeouts;
  /**
   * Returns true while connections are scarce, so that a peer that makes us wait is given up early (timeouts.ts). It is
   * called repeatedly during a wait.
   */
  isPressed?: (() => boolean) | undefined;
  /** Ends the opening of the session at once when it is aborted. Its reason is the failure. */
  cut?: AbortSignal | undefined;
  onPhase?: ((phase: SmtpPhase) => void) | undefined;
  /** Sees how the session opens (events.ts). Each transaction names its own observer. */
  observer?: SmtpObserver | undefined;
};
