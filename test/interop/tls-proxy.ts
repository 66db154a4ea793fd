/** TLS servers of these tests: a proxy in front of a daemon, as an operator has one, and web sites that links lead to. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type RequestListener, request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { temporaryDirectory } from '../support/daemon.ts';
import { writeCertificate } from './certificate.ts';

export type TlsServer = {
  port: number;
  /** File with the certificate, for clients that are told to trust it. */
  certificate: string;
  close(): Promise<void>;
};

/** Starts a server on 127.0.0.1 with a certificate for the host name. */
export async function startTlsServer(hostname: string, listener: RequestListener): Promise<TlsServer> {
  const files = await writeCertificate(temporaryDirectory('tls'), hostname);
  const tls = { key: readFileSync(files.key), cert: readFileSync(files.certificate) };
  const server = createServer(tls, listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    certificate: files.certificate,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/**
 * Starts a proxy that passes requests on with their `Host` field. `target` is the address of the daemon, such as
 * `http://127.0.0.1:8025`.
 */
export function startTlsProxy(hostname: string, target: string): Promise<TlsServer> {
  const { hostname: host, port } = new URL(target);
  return startTlsServer(hostname, (incoming, outgoing) => {
    const { method, url: path, headers, socket } = incoming;
    const forwarded = { ...headers, 'x-forwarded-for': socket.remoteAddress ?? '' };
    const sent = request({ host, port, method, path, headers: forwarded }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
}
