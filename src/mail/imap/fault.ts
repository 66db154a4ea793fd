/** The two ways in which a connection ends before LOGOUT. */

/** Reasons for which the server ends a connection by itself, as the metrics name them. */
export type FaultReason =
  | 'literal_size'
  | 'errors'
  | 'connection_rate'
  | 'tls_handshake'
  | 'compression'
  | 'login_time'
  | 'idle'
  | 'slow_data'
  | 'slow_reader'
  | 'session'
  | 'shutdown';

/** Ends the connection. The text, and a response code where there is one, are sent with BYE. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  readonly reason: FaultReason;
  readonly bye: string | undefined;

  constructor(reason: FaultReason, bye: string | undefined) {
    super(`the IMAP connection ended: ${reason}`);
    this.reason = reason;
    this.bye = bye;
  }
}

/** Reports that the client has closed the connection. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('the IMAP client closed the connection');
  }
}
