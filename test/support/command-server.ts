/**
 * A minimal mail server whose replies a test chooses: one function receives each command, and each line of a message.
 */
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback } from './loopback.ts';

export type CommandServer = {
  port: number;
  /** Returns the number of connections that were opened so far. */
  connections(): number;
  close(): void;
};

/** Accepts every command and every message. */
export function acceptEverything(line: string): string {
  if (line === 'DATA') return '354 go on';
  return /^(EHLO|MAIL|RCPT|RSET|QUIT)/.test(line) ? '250 ok' : line === '.' ? '250 taken' : '';
}

/**
 * Starts the server on 127.0.0.1. It greets each client at once. `answer` receives each line and returns the reply:
 * undefined closes the connection, and an empty text sends nothing.
 */
export async function startCommandServer(
  answer: (line: string, socket: Socket) => string | undefined,
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
        const reply = answer(rest.slice(0, end), socket);
        rest = rest.slice(end + 2);
        if (reply === undefined) return void socket.destroy();
        if (reply !== '') socket.write(`${reply}\r\n`);
      }
    });
  });
  return {
    port: await listenOnLoopback(server),
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
