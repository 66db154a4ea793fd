/**
 * Postfix with Debian's rspamd as its milter, which does nothing but SPF, DKIM and DMARC. It asks the DNS server of the row. A
 * message is put to rspamd before the load, to prove that all three pass.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/loopback.ts';
import { AUTHOR } from './inbound-messages.ts';
import { type PostfixPeer, startPostfixPeer } from './postfix-peer.ts';
import { type Program, startProgram, until } from './program.ts';
import type { Workspace } from './workspace.ts';

export const RSPAMD = '/usr/bin/rspamd';
const START_TIMEOUT_MS = 30_000;
const PASSES = ['R_SPF_ALLOW', 'R_DKIM_ALLOW', 'DMARC_POLICY_ALLOW'];

type Checking = {
  zone: string;
  /** File of a message that passes, with lines that end in LF. */
  message: string;
  concurrency: number;
};

/** Starts the pair. */
export async function startCheckingPeer(
  workspace: Workspace,
  { zone, message, concurrency }: Checking,
): Promise<PostfixPeer> {
  const dns = await startDnsServer(zone);
  const rspamd = await startRspamd(workspace.newFolder('rspamd'), dns);
  const stop = async () => {
    await rspamd.program.stop();
    await dns.close();
  };
  try {
    await requirePasses(rspamd.checkPort, readFileSync(message, 'latin1').replaceAll('\n', '\r\n'));
    const { milterPort } = rspamd;
    const postfix = await startPostfixPeer(workspace, { job: 'accept', concurrency, milterPort });
    return {
      port: postfix.port,
      pids: [...postfix.pids, rspamd.program.pid],
      async [Symbol.asyncDispose]() {
        await postfix[Symbol.asyncDispose]();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Rspamd = { program: Program; milterPort: number; checkPort: number };

async function startRspamd(folder: string, dns: DnsServer): Promise<Rspamd> {
  const [milterPort, checkPort] = [await freePort(), await freePort()];
  const configuration = join(folder, 'rspamd.conf');
  mkdirSync(join(folder, 'cache'));
  writeFileSync(join(folder, 'suffixes'), 'test\n');
  writeFileSync(configuration, rspamdConf({ folder, milterPort, checkPort, nameserver: dns.address }));
  // -i lets it run as root, as this program does.
  const program = startProgram(RSPAMD, ['-f', '-i', '-c', configuration]);
  const isReady = async () => (await fetch(`http://127.0.0.1:${checkPort}/ping`).catch(() => undefined))?.ok;
  try {
    await until('rspamd listens', START_TIMEOUT_MS, async () => (await isReady()) === true);
  } catch (error) {
    await program.stop();
    throw error;
  }
  return { program, milterPort, checkPort };
}

async function requirePasses(port: number, message: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/checkv2`, {
    method: 'POST',
    headers: { ip: '127.0.0.1', helo: 'client.test', from: AUTHOR, rcpt: 'r@sender.test' },
    body: Buffer.from(message, 'latin1'),
  });
  const { symbols } = (await response.json()) as { symbols: object };
  const missing = PASSES.filter((name) => !(name in symbols));
  if (missing.length > 0) throw new Error(`rspamd finds ${Object.keys(symbols)}, not ${missing}`);
}

type Settings = { folder: string; milterPort: number; checkPort: number; nameserver: string };

/** One milter process for each core. The other worker serves only the check before the load. Modules that are not named stay off. */
function rspamdConf({ folder, milterPort, checkPort, nameserver }: Settings): string {
  return `
options {
  filters = "dkim";
  pidfile = "${folder}/rspamd.pid";
  control_socket = "${folder}/control.sock mode=0600";
  cache_file = "${folder}/symbols.cache";
  dynamic_conf = "${folder}/dynamic";
  history_file = "${folder}/history";
  stats_file = "${folder}/stats.ucl";
  hs_cache_dir = "${folder}/cache/";
  tempdir = "${folder}";
  url_tld = "${folder}/suffixes";
  local_addrs = [];
  dns { nameserver = ["${nameserver}:1"]; timeout = 5s; retransmits = 3; }
}
logging { type = "file"; filename = "${folder}/log"; level = "error"; }
worker "normal" { bind_socket = "127.0.0.1:${checkPort}"; count = 1; }
worker "rspamd_proxy" {
  bind_socket = "127.0.0.1:${milterPort}";
  milter = yes;
  timeout = 60s;
  count = ${availableParallelism()};
  upstream "local" { default = yes; self_scan = yes; }
}
modules { path = "/usr/share/rspamd/plugins/spf.lua"; path = "/usr/share/rspamd/plugins/dmarc.lua"; }
spf { check_local = true; }
dkim { check_local = true; }
dmarc { check_local = true; }
`;
}
