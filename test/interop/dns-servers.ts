/** Starts DNS servers from Debian on ports of loopback: any program, and Unbound with the settings that a test gives. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/loopback.ts';
import { until } from './until.ts';

export type DnsServer = { port: number; stop(): Promise<void> };

/** A question by which a server shows that it serves, and a part of what dig prints then. */
export type FirstQuestion = { name: string; type: string; answer: string };

const run = promisify(execFile);
/** Number of characters of the output that an error shows. */
const MAX_OUTPUT = 4_096;

/** Starts a program that stays in the foreground, and waits until it answers. */
export async function startDnsServer(
  [program, ...args]: readonly [string, ...string[]],
  port: number,
  { name, type, answer }: FirstQuestion,
): Promise<DnsServer> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => {
      output = (output + part.toString()).slice(-MAX_OUTPUT);
    });
  }
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  await until(`${program} answers`, async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}: ${output}`);
    const question = ['@127.0.0.1', '-p', String(port), name, type, '+tries=1', '+time=1'];
    return (await run('dig', question).catch(() => ({ stdout: '' }))).stdout.includes(answer);
  });
  return {
    port,
    async stop() {
      process.off('exit', kill);
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Settings of unbound.conf(5): lines of its section `server`, and the sections that follow. */
type UnboundSettings = { server: readonly string[]; sections: string };

/** Starts Unbound on a free port, with its files in the folder `home`, which is made where it does not exist. */
export async function startUnbound(
  home: string,
  { server, sections }: UnboundSettings,
  question: FirstQuestion,
): Promise<DnsServer> {
  const port = await freePort();
  const file = join(home, 'unbound.conf');
  await mkdir(home, { recursive: true });
  await writeFile(
    file,
    `server:
  directory: "${home}"
  chroot: ""
  username: ""
  pidfile: "${home}/unbound.pid"
  use-syslog: no
  interface: 127.0.0.1
  port: ${port}
  do-ip6: no
  do-not-query-localhost: no
${server.map((line) => `  ${line}\n`).join('')}remote-control:
  control-enable: no
${sections}`,
  );
  return startDnsServer(['unbound', '-d', '-c', file], port, question);
}
