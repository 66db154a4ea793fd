/**
 * A minimal mail server whose replies a test chooses: one function receives each command, and each line of a message.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type CommandServer = {
  port: number;
  /** Returns the number of connections that were opened so far. */
  connections(): number;
  close(): void;
};

/**
 * Starts the server on 127.0.0.1. It greets each client at once. `answer` receives each line and returns the reply:
 * undefined closes the connection, and an empty text sends nothing.
 */
export async function startCommandServer(
  answer: (line: string) => string | undefined,
): Promise<CommandServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write('220 mx.example ESMTP\r\n');
    let rest = '';
    socket.on('data', (data) => {
      rest += data.toString('latin1');
      for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
        const reply = answer(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (reply === undefined) return void socket.destroy();
        if (reply !== '') socket.write(`${reply}\r\n`);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
