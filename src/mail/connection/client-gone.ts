/** The end of a connection by its client. It passes through a session that reads a message. */

/** Reports that the client has closed the connection. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('the client closed the connection');
  }
}
