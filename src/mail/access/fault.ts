/** The end of a connection by the server, before its client has said so. */

/** Reasons for which the server ends a connection by itself, as the metrics name them. */
export type FaultReason =
  | 'literal_size'
  | 'errors'
  | 'commands'
  | 'early_bytes'
  | 'connections'
  | 'evicted'
  | 'connection_rate'
  | 'tls_handshake'
  | 'compression'
  | 'login_time'
  | 'idle'
  | 'slow_data'
  | 'slow_reader'
  | 'session'
  | 'failed'
  | 'shutdown';

/** Ends the connection. The text is for the client; without one the connection just ends. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  readonly reason: FaultReason;
  readonly text: string | undefined;

  constructor(reason: FaultReason, text: string | undefined) {
    super(`the connection ended: ${reason}`);
    this.reason = reason;
    this.text = text;
  }
}
