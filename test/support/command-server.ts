/** A mail server of a few lines, for a test to say what it answers: each command to one function, a body line by line. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export type CommandServer = {
  port: number;
  /** Connections opened so far. */
  connections(): number;
  close(): void;
};

/** On 127.0.0.1, greeting at once. `answer` is given each line; undefined hangs up, an empty answer says nothing. */
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
