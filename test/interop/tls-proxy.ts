/** A TLS proxy in front of a daemon, as an operator has one: it passes requests on with their `Host` field. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { temporaryDirectory } from '../support/daemon.ts';
import { writeCertificate } from './certificate.ts';

export type TlsProxy = { port: number; close(): Promise<void> };

/** Starts the proxy on 127.0.0.1. `target` is the address of the daemon, such as `http://127.0.0.1:8025`. */
export async function startTlsProxy(hostname: string, target: string): Promise<TlsProxy> {
  const files = await writeCertificate(temporaryDirectory('tls'), hostname);
  const tls = { key: readFileSync(files.key), cert: readFileSync(files.certificate) };
  const { hostname: host, port } = new URL(target);
  const server = createServer(tls, (incoming, outgoing) => {
    const { method, url: path, headers, socket } = incoming;
    const forwarded = { ...headers, 'x-forwarded-for': socket.remoteAddress ?? '' };
    const sent = request({ host, port, method, path, headers: forwarded }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
