/**
 * A real OpenDKIM as a milter, on a port of 127.0.0.1. By default it only verifies: it asks for keys where it is told to,
 * and writes its verdict into the message as Authentication-Results (RFC 8601). With a key, it only signs.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/daemon.ts';
import { freePort, listens } from '../support/loopback.ts';
import { until } from './until.ts';

export type Opendkim = {
  port: number;
  stop(): Promise<void>;
};

const PROGRAM = '/usr/sbin/opendkim';

export type SigningKey = {
  domain: string;
  selector: string;
  /** The private key in PEM. */
  key: string;
};

/** `dnsServer`: `127.0.0.1:port`. `hostname` signs the verdicts (authserv-id). */
export async function startOpendkim(options: {
  dnsServer: string;
  hostname: string;
  signing?: SigningKey;
}): Promise<Opendkim> {
  const home = temporaryDirectory('opendkim');
  const port = await freePort();
  const resolver = join(home, 'resolver.conf');
  const configuration = join(home, 'opendkim.conf');
  await writeFile(resolver, resolverConfiguration(options.dnsServer));
  const keyFile = join(home, 'key.pem');
  if (options.signing) await writeFile(keyFile, options.signing.key, { mode: 0o600 });
  const filter = { port, resolver, hostname: options.hostname };
  const mode = options.signing ? signer(options.signing, keyFile) : VERIFIER;
  await writeFile(configuration, filterConfiguration(filter, mode));
  const child = spawn(PROGRAM, ['-f', '-x', configuration], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part.toString();
  });
  child.stderr.on('data', (part: Buffer) => {
    output += part.toString();
  });
  const atExit = () => child.kill('SIGTERM');
  process.on('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  await until('OpenDKIM listens', async () => {
    if (child.exitCode !== null) throw new Error(`OpenDKIM ended with ${child.exitCode}: ${output}`);
    return listens(port);
  });
  return {
    port,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/** unbound.conf(5): OpenDKIM on Debian resolves with libunbound, which can ask a port of its own. */
function resolverConfiguration(dnsServer: string): string {
  return `
server:
  do-not-query-localhost: no
  do-ip6: no
  module-config: "iterator"
forward-zone:
  name: "."
  forward-addr: ${dnsServer.replace(':', '@')}
`;
}

/** Mail from "internal" hosts would be signed, not verified, and 127.0.0.1 is one by default. */
const VERIFIER = `
Mode v
InternalHosts 192.0.2.1
`;

function signer({ domain, selector }: SigningKey, keyFile: string): string {
  return `
Mode s
Domain ${domain}
Selector ${selector}
KeyFile ${keyFile}
Canonicalization relaxed/simple
RequireSafeKeys no
`;
}

function filterConfiguration(
  options: { port: number; resolver: string; hostname: string },
  mode: string,
): string {
  return `${mode}
Socket inet:${options.port}@127.0.0.1
ResolverConfiguration ${options.resolver}
AuthservID ${options.hostname}
AlwaysAddARHeader yes
Background no
Syslog no
`;
}
