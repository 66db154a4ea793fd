/** The end of a connection by the server, before QUIT. It passes through a session that reads a body. */
import type { Reply } from './session.ts';

/** Reasons for which the server refuses or ends something by itself, or its session ends the connection, as the metrics name them. */
export type FaultReason =
  | 'early_talker'
  | 'foreign_protocol'
  | 'pipelining'
  | 'line_length'
  | 'bare_line_feed'
  | 'bare_carriage_return'
  | 'null_octet'
  | 'message_size'
  | 'chunk_size'
  | 'login_needed'
  | 'errors'
  | 'commands'
  | 'refused_recipients'
  | 'connection_rate'
  | 'connections'
  | 'evicted'
  | 'proxy_header'
  | 'tls_handshake'
  | 'idle'
  | 'slow_data'
  | 'session'
  | 'shutdown';

/** Ends the connection. The client is told why, unless it could not read the reply. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  readonly reason: FaultReason;
  readonly reply: Reply | undefined;

  constructor(reason: FaultReason, reply: Reply | undefined) {
    super(`the SMTP connection ended: ${reason}`);
    this.reason = reason;
    this.reply = reply;
  }
}
