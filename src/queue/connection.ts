/** The connection of a session, as the operator sees it. */

/** A connection that is open or being opened. Times are milliseconds of the monotonic clock. */
export type Connection = {
  host: string;
  /** IP literal. */
  address: string;
  /** Version of TLS; null without TLS, and until the session is open. */
  tls: string | null;
  since: number;
  /** True once messages can be sent. */
  isOpen: boolean;
  /** Number of messages that were sent on it, or are being sent. */
  messages: number;
};
