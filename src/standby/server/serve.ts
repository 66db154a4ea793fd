/** Runs a receiving host: its server with TLS, limits of connections, and what the operator of the primary needs to know. */
import { mkdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { encodeProtocols } from '../../system/accept-tls.ts';
import { createCertificateStore } from '../../system/certificates.ts';
import { type Listener, listen, listenAt } from '../../system/listen.ts';
import type { System } from '../../system/system.ts';
import {
  certificateFilesOf,
  keepCertificate,
  keepToken,
  readCertificate,
  readTokens,
  ServerFileError,
  tokenFileOf,
} from './files.ts';
import { createObjectServer } from './object-server.ts';

export type ServeOptions = {
  /** Folder of this host, which exists. The objects are in `objects` below it. */
  folder: string;
  at: { address: string; port: number };
  /** Name in a certificate that is made. */
  hostname: string;
  /** A certificate of the operator, instead of one that is made. */
  files?: { certificate: string; key: string } | undefined;
  /** File with the tokens, instead of one that is made. */
  tokenFile?: string | undefined;
  reserveBytes: number;
};

export type ObjectHost = {
  /** Address and port that it listens on. */
  address: string;
  pin: string;
  tokenFile: string;
  objects: string;
  /** Reads a renewed certificate and the tokens. @throws ServerFileError or CertificateError; all then stays as it was */
  reload(): void;
  close(): Promise<void>;
};

/** Maximum number of connections, in total and of one address. A primary and a follower have at most 16 each. */
const MAX_CONNECTIONS = 256;
const MAX_CONNECTIONS_PER_ADDRESS = 64;
/** Maximum time of each step of a handshake, in milliseconds. */
const HANDSHAKE_MS = 10_000;
/** Time after which requests in progress are cut off at the end, in milliseconds. The primary sends them again. */
const CLOSE_GRACE_MS = 5_000;

/**
 * Starts to serve.
 * @throws ServerFileError, CertificateError, ListenError
 */
export async function serveObjects(
  system: Pick<System, 'clock' | 'log' | 'statDisk'>,
  { folder, at, hostname, files, tokenFile, reserveBytes }: ServeOptions,
): Promise<ObjectHost> {
  const root = resolve(folder);
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw new ServerFileError(`${root} is not there: make the folder, or mount its disk`);
  const objects = join(root, 'objects');
  mkdirSync(objects, { recursive: true, mode: 0o700 });
  if (files === undefined) await keepCertificate(root, hostname, system.clock.now());
  if (tokenFile === undefined) keepToken(tokenFileOf(root));
  const usedFiles = files ?? certificateFilesOf(root);
  const usedTokenFile = tokenFile ?? tokenFileOf(root);
  const { pair, pin } = readCertificate(usedFiles);
  const certificates = createCertificateStore([pair]);
  let tokens = readTokens(usedTokenFile);
  const server = createObjectServer(system, { folder: objects, tokens: () => tokens, reserveBytes });
  let isClosing = false;
  server.on('request', (_request, response) => {
    response.once('close', () => {
      if (isClosing) server.closeIdleConnections();
    });
  });
  const listener: Listener = await listenAt(at.address, (address) =>
    listen(system, server, {
      section: 'standby',
      at: { address, port: at.port },
      limits: { total: MAX_CONNECTIONS, perAddress: MAX_CONNECTIONS_PER_ADDRESS },
      tls: { certificates, timeoutMs: HANDSHAKE_MS, protocols: encodeProtocols(['http/1.1']) },
    }),
  );
  return {
    address: listener.address,
    pin,
    tokenFile: usedTokenFile,
    objects,
    reload() {
      const renewed = readTokens(usedTokenFile);
      certificates.replace([readCertificate(usedFiles).pair]);
      tokens = renewed;
    },
    async close() {
      isClosing = true;
      server.closeIdleConnections();
      await listener.close(CLOSE_GRACE_MS);
    },
  };
}
