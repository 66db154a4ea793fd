/** Takes every send at once, and counts the connections that a client library opens. */
import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { listenOnLoopback } from '../../support/loopback.ts';

export type SendServer = Disposable & {
  address: string;
  /** Number of connections that carried requests of a library so far. */
  connections(): number;
  /** Number of those that are open now. */
  open(): number;
};

const SENT = JSON.stringify({ id: 'em_01khq3z5vgxw1r8t6n2m4c9b7d', status: 'queued' });

export async function startSendServer(): Promise<SendServer> {
  const used = new Set<Socket>();
  const server = createServer((request, response) => {
    if (isOfLibrary(request)) used.add(request.socket);
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': SENT.length });
      response.end(SENT);
    });
  });
  const port = await listenOnLoopback(server);
  return {
    address: `http://127.0.0.1:${port}`,
    connections: () => used.size,
    open: () => [...used].filter(({ destroyed }) => !destroyed).length,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Bare requests of the same program have another name. */
function isOfLibrary({ headers }: IncomingMessage): boolean {
  return headers['user-agent']?.startsWith('postrider-') ?? false;
}
