/** The API of a test app with both ports of HTTPS, on loopback, and a client that says in TLS and in HTTP what a test wants. */
import { once } from 'node:events';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import Sqlite from 'better-sqlite3';
import { createApiServer, openApi } from '../../src/api.ts';
import type { CertificateStatus } from '../../src/certificates/show.ts';
import { type HttpsParts, openHttps } from '../../src/https-ports/listener.ts';
import { createCertificateStore } from '../../src/system/certificates.ts';
import { openTestApp, type TestAppOptions } from '../support/test-app.ts';
import { EC_PAIR } from '../system/certificate-pairs.ts';

export const HOSTNAME = 'mx.postrider.example';

type Options = TestAppOptions &
  Partial<Pick<HttpsParts['certificates'], 'challenges'>> & {
    /** Kind of the certificate at the start; `configured` unless it is given. */
    kind?: CertificateStatus['kind'];
  };

export type HttpsWorld = Awaited<ReturnType<typeof openHttpsWorld>>;

/** Opens the world. The caller closes it. */
export async function openHttpsWorld({ challenges, kind, ...options }: Options = {}) {
  const env = { POSTRIDER_HTTP_PORT: '0', POSTRIDER_HTTPS_PORT: '0', POSTRIDER_HTTPS_REDIRECT_PORT: '0' };
  const world = await openTestApp({ ...options, env: { ...env, ...options.env } });
  const server = await createApiServer(world.app);
  const plain = await openApi(world.app, server);
  const certificates = {
    ...fakeCertificates(kind ?? 'configured'),
    challenges: challenges ?? { answerHttp: () => undefined, findAlpn: () => undefined },
  };
  const listener = await openHttps(world.app, { server, certificates });
  const portOf = (port: 'https' | 'redirect') => Number(new URL(listener.addresses()[port] ?? '').port);
  return {
    ...world,
    plainAddress: plain.address,
    listener,
    certificates,
    ask: (request: Asked) => ask(portOf('https'), request),
    open: (options: ConnectionOptions) => open(portOf('https'), options),
    httpsPort: () => portOf('https'),
    redirect: (path: string, headers: Record<string, string>, method = 'GET') =>
      fetchPlainly(portOf('redirect'), { method, path, headers }),
    redirectPort: () => portOf('redirect'),
    setTrackingHost(host: string, domainId: string) {
      const database = new Sqlite(join(world.dataDir, 'postrider.db'));
      database
        .prepare('INSERT INTO trackingHosts (host, domainId, since) VALUES (?, ?, 0)')
        .run(host, domainId);
      database.close();
      world.app.wakeups.notify('trackingHosts');
    },
    async close() {
      await listener.close();
      await plain.close();
      await world.close();
    },
  };
}

/** Certificates of one kind, which a test can replace by ones that clients may trust. */
function fakeCertificates(first: CertificateStatus['kind']) {
  let kind = first;
  let follower: { replace(): void } = { replace() {} };
  const status = (): CertificateStatus =>
    ({ kind, names: ['mx.example'], certificate: '', key: '' }) as unknown as CertificateStatus;
  return {
    store: createCertificateStore([EC_PAIR]),
    list: async () => [status()],
    follow(store: { replace(pairs: never[]): void }) {
      follower = { replace: () => store.replace([]) };
      return [];
    },
    becomeTrusted() {
      kind = 'configured';
      follower.replace();
    },
  };
}

type Asked = {
  /** Name in TLS; undefined for none. */
  name?: string | undefined;
  /** Lines of the request, without the line of the method when `path` is given. */
  path?: string;
  /** Value of the Host header; by default that of `name`. Null for none. */
  host?: string | null;
  headers?: readonly string[];
  method?: string;
  version?: string;
};

type Answer = { status: number; head: string; body: string };

async function ask(
  port: number,
  { name, path = '/', host = name ?? null, headers = [], method = 'GET', version = '1.1' }: Asked,
): Promise<Answer> {
  const socket = await open(port, name === undefined ? {} : { servername: name });
  const hosts = host === null ? [] : [`Host: ${host}`];
  const lines = [`${method} ${path} HTTP/${version}`, ...hosts, ...headers, 'Connection: close', '', ''];
  socket.write(lines.join('\r\n'));
  return readAnswer(socket);
}

export async function readAnswer(socket: NodeJS.ReadableStream): Promise<Answer> {
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(Buffer.from(part));
  const [head = '', body = ''] = Buffer.concat(parts).toString().split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body };
}

async function open(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

async function fetchPlainly(
  port: number,
  { method, path, headers }: { method: string; path: string; headers: Record<string, string> },
): Promise<Answer> {
  const { connect: connectPlainly } = await import('node:net');
  const socket = connectPlainly(port, '127.0.0.1');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.write([`${method} ${path} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'));
  return readAnswer(socket);
}
