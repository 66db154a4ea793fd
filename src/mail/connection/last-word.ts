/** Sends the last text of a connection. A client that begins with TLS can read nothing before its handshake. */
import type { Socket } from 'node:net';
import type { Refuse } from '../../system/listen.ts';
import type { Client } from './client.ts';
import type { Wire } from './wire.ts';

type EndingConnection = {
  context: {
    options: { tls: { mode: 'starttls' | 'immediate' } | undefined };
    /** Closes a connection that has not begun its TLS, with a text where a handshake is affordable (listener.ts). */
    refuse: Refuse;
  };
  wire: Pick<Wire<string>, 'send' | 'detach' | 'cut'>;
  socket: Socket;
  client: Pick<Client, 'tls'>;
};

/** Sends a text, after which the caller ends the connection. */
export function sendLast(connection: EndingConnection, text: string): void {
  const { context, wire, socket } = connection;
  if (awaitsTls(connection)) {
    wire.detach();
    context.refuse(socket, text);
  } else {
    wire.send(text);
  }
}

/** Ends the connection in this turn of the event loop, with a text that the client may read. */
export function cutOff(connection: EndingConnection, text: string): void {
  connection.wire.cut(awaitsTls(connection) ? '' : text);
}

function awaitsTls({ context, client }: EndingConnection): boolean {
  return context.options.tls?.mode === 'immediate' && !client.tls;
}
