/** Debian's pebble, the test authority of Let's Encrypt, on loopback. It rejects every seventh nonce, as it is meant to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { writeCertificate } from './certificate.ts';

export type Pebble = AsyncDisposable & {
  directory: string;
  /** Certificate of the server of pebble, in PEM, which its clients must trust, and the file that has it. */
  serverCertificate: string;
  serverCertificateFile: string;
  /** Returns the root of the certificates that it issues, in PEM. */
  root(): Promise<string>;
  output(): string;
};

type PebbleOptions = {
  /** Resolver that names are looked up with. */
  dns: string;
  /** Ports at which challenges are answered. */
  httpPort: number;
  tlsPort: number;
  externalAccount?: { keyId: string; hmacKey: string };
};

const START_MS = 20_000;

/** Starts pebble, and resolves when it answers. */
export async function startPebble({
  dns,
  httpPort,
  tlsPort,
  externalAccount,
}: PebbleOptions): Promise<Pebble> {
  const folder = temporaryDirectory('pebble');
  const { key, certificate } = await writeCertificate(folder, 'localhost');
  const [port, managementPort] = [await freePort(), await freePort()];
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate,
    privateKey: key,
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: externalAccount !== undefined,
    ...(externalAccount && { externalAccountMACKeys: { [externalAccount.keyId]: externalAccount.hmacKey } }),
  };
  const config = join(folder, 'config.json');
  await writeFile(config, JSON.stringify({ pebble }));
  const env = { ...process.env, PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '15' };
  const child = spawn('/usr/bin/pebble', ['-config', config, '-dnsserver', dns, '-strict'], { env });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => (text += part.toString()));
  const serverCertificate = await readFile(certificate, 'utf8');
  const agent = new Agent({ connect: { ca: serverCertificate } });
  const read = async (url: string) => (await request(url, { dispatcher: agent })).body.text();
  const directory = `https://localhost:${port}/dir`;
  await waitFor(
    child,
    () => read(directory),
    () => text,
  );
  return {
    directory,
    serverCertificate,
    serverCertificateFile: certificate,
    root: () => read(`https://localhost:${managementPort}/roots/0`),
    output: () => text,
    async [Symbol.asyncDispose]() {
      await agent.destroy();
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

async function waitFor(
  child: ChildProcess,
  ask: () => Promise<unknown>,
  output: () => string,
): Promise<void> {
  const until = Date.now() + START_MS;
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > until)
        throw new Error(`pebble does not answer: ${output()}`, { cause: error });
      await delay(50);
    }
  }
}

/** Returns a port on which nothing listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
