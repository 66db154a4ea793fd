/**
 * A real Unbound that validates DNSSEC. It asks a second one for zones that ldns has signed, and another server for all
 * other names.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../support/daemon.ts';
import { startUnbound } from './dns-servers.ts';

export type SignedZone = {
  name: string;
  /** Records of the zone as a zone file has them, without its SOA and NS. */
  records: string;
  /** Changes the file after it was signed, so that its signatures are wrong. */
  tamper?: (file: string) => string;
};

const run = promisify(execFile);

/** Starts the resolver on a free port. `forwardTo` is a server such as `127.0.0.1:5353`. The first zone must be sound. */
export async function startValidator(zones: readonly SignedZone[], forwardTo: string) {
  const home = temporaryDirectory('validator');
  const signed = await Promise.all(zones.map((zone) => signZone(home, zone)));
  const question = { name: signed[0]?.name ?? '', type: 'SOA', answer: 'status: NOERROR' };
  const auth = ({ name, file }: Signed) => `auth-zone:\n  name: "${name}"\n  zonefile: "${file}"\n`;
  const serving = { server: [...COMMON, 'module-config: "iterator"'], sections: signed.map(auth).join('') };
  const authority = await startUnbound(join(home, 'authority'), serving, question);
  const anchors = signed.map(({ anchor }) => `trust-anchor-file: "${anchor}"`);
  const stub = ({ name }: Signed) =>
    `stub-zone:\n  name: "${name}"\n  stub-addr: 127.0.0.1@${authority.port}\n`;
  const forward = `forward-zone:\n  name: "."\n  forward-addr: ${forwardTo.replace(':', '@')}\n`;
  const validating = {
    server: [...COMMON, 'module-config: "validator iterator"', ...anchors],
    sections: `${signed.map(stub).join('')}${forward}`,
  };
  const resolver = await startUnbound(join(home, 'resolver'), validating, question);
  return {
    address: `127.0.0.1:${resolver.port}`,
    async stop() {
      await Promise.all([authority.stop(), resolver.stop()]);
    },
  };
}

/** Names that do not exist yet are asked for again, and `test` is a domain like any other. */
const COMMON = ['cache-max-negative-ttl: 0', 'local-zone: "test." nodefault'];

type Signed = { name: string; file: string; anchor: string };

/** Signs a zone with a new key, which is its trust anchor. */
async function signZone(
  home: string,
  { name, records, tamper = (file) => file }: SignedZone,
): Promise<Signed> {
  const { stdout } = await run('ldns-keygen', ['-a', 'ECDSAP256SHA256', name], { cwd: home });
  const key = stdout.trim();
  const file = join(home, name);
  const head = `$ORIGIN ${name}.\n$TTL 60\n@ SOA ns hostmaster 1 3600 600 86400 60\n@ NS ns\nns A 127.0.0.1\n`;
  await writeFile(file, `${head}${records}\n`);
  await run('ldns-signzone', ['-o', name, '-f', `${file}.signed`, file, key], { cwd: home });
  await writeFile(`${file}.signed`, tamper(await readFile(`${file}.signed`, 'utf8')));
  return { name, file: `${file}.signed`, anchor: join(home, `${key}.key`) };
}
