/**
 * Runs a real rspamd on a port of 127.0.0.1, with the rules of its package and the few modules that need no database.
 * It asks only the given DNS server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import { until } from './until.ts';

export type Rspamd = {
  /** URL of the worker that judges messages. */
  url: string;
  /** Returns the names of the symbols that rspamd finds in a message. */
  symbols(message: string, envelope: Envelope): Promise<Set<string>>;
  stop(): Promise<void>;
};

export type Envelope = { ip: string; helo: string; mailFrom: string; recipient: string };

const PROGRAM = '/usr/bin/rspamd';
/** Time limit of the start: rspamd compiles hundreds of rules before it listens. */
const START_MAX_WAIT_MS = 90_000;
const SCAN_MS = 60_000;

/** `dnsServer` has the form `127.0.0.1:port`. `rules` are further ones, in Lua. */
export async function startRspamd(options: { dnsServer: string; rules?: string }): Promise<Rspamd> {
  const home = temporaryDirectory('rspamd');
  const port = await freePort();
  const configuration = join(home, 'rspamd.conf');
  await writeFile(join(home, 'suffixes'), 'example\n');
  await writeFile(join(home, 'rules.lua'), options.rules ?? '');
  await writeFile(configuration, configurationOf({ home, port, dnsServer: options.dnsServer }));
  // -i lets workers run as root, as these tests do.
  const child = spawn(PROGRAM, ['-f', '-i', '-c', configuration], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      output += part.toString();
    });
  }
  const atExit = () => child.kill('SIGTERM');
  process.on('exit', atExit);
  child.once('exit', () => process.off('exit', atExit));
  const address = `http://127.0.0.1:${port}`;
  await until(
    'rspamd listens',
    async () => {
      if (child.exitCode !== null) throw new Error(`rspamd ended with ${child.exitCode}: ${output}`);
      const response = await fetch(`${address}/ping`).catch(() => undefined);
      return response?.ok;
    },
    START_MAX_WAIT_MS,
  );
  return {
    url: address,
    async symbols(message, { ip, helo, mailFrom, recipient }) {
      const response = await fetch(`${address}/checkv2`, {
        method: 'POST',
        headers: { IP: ip, Helo: helo, From: mailFrom, Rcpt: recipient },
        body: Buffer.from(message, 'latin1'),
        signal: AbortSignal.timeout(SCAN_MS),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`rspamd answered ${response.status}: ${text}`);
      return new Set(Object.keys((JSON.parse(text) as { symbols: object }).symbols));
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

/**
 * Modules that are not named here have no settings and stay off. `check_local` is needed because the peer is 127.0.0.1.
 * `url_tld` is the list of public suffixes; these tests use their own suffix (RFC 6761 section 6.5), and the DMARC module needs
 * the list to find that a subdomain is aligned.
 */
function configurationOf({
  home,
  port,
  dnsServer,
}: {
  home: string;
  port: number;
  dnsServer: string;
}): string {
  return `
options {
  filters = "regexp,dkim";
  pidfile = "${home}/rspamd.pid";
  control_socket = "${home}/control.sock mode=0600";
  cache_file = "${home}/symbols.cache";
  dynamic_conf = "${home}/dynamic";
  history_file = "${home}/history";
  stats_file = "${home}/stats.ucl";
  hs_cache_dir = "${home}/";
  tempdir = "${home}";
  url_tld = "${home}/suffixes";
  local_addrs = [];
  dns { nameserver = ["${dnsServer}:1"]; timeout = 5s; retransmits = 3; }
}
logging { type = "console"; level = "error"; }
worker "normal" { bind_socket = "127.0.0.1:${port}"; count = 1; task_timeout = 30s; }
modules { path = "/usr/share/rspamd/plugins"; }
lua = "/usr/share/rspamd/rules/rspamd.lua";
lua = "${home}/rules.lua";
forged_recipients { symbol_sender = "FORGED_SENDER"; symbol_rcpt = "FORGED_RECIPIENTS"; }
spf { check_local = true; }
dkim { check_local = true; }
dmarc { check_local = true; }
`;
}
