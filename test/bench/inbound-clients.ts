/** Rows about clients that bring no mail, and what an honest client notices of them. */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { FILE_SHARES } from '../../src/system/open-files.ts';
import { type InboundDaemon, startInboundDaemon } from './inbound-daemon.ts';
import { PLAIN_AUTHOR } from './inbound-messages.ts';
import { SENDER_DOMAIN } from './message.ts';
import { type LoadResult, observe, runHttpLoad } from './observe.ts';
import { percentile } from './percentile.ts';
import { treeMemory } from './process-tree.ts';
import { runModule, startModule } from './program.ts';
import type { Measure } from './row.ts';
import type { GuessingClients, WaitingClients } from './smtp-clients-program.ts';
import { type Conversation, converse } from './smtp-conversation.ts';
import type { Workspace } from './workspace.ts';

const GUESSES: GuessingClients = { kind: 'guess', port: 0, sessions: 10, perSecond: 1_000, seconds: 5 };
const WAITING: WaitingClients = { kind: 'wait', port: 0, idle: 10_000, dripping: 1_000 };
const HONEST_MESSAGES = 50;
const HTTP_CONNECTIONS = 2;
const HTTP_REQUESTS = 500;
const MESSAGE = `From: ${PLAIN_AUTHOR}\r\nTo: r@${SENDER_DOMAIN}\r\nSubject: Hello\r\n\r\nHello.\r\n.\r\n`;

/** Returns what recipients cost that do not exist. */
export async function measureGuesses(workspace: Workspace, zone: string): Promise<Measure> {
  await using postrider = await startInboundDaemon(workspace, { zone, localPart: 'known' });
  const clients: GuessingClients = { ...GUESSES, port: postrider.inboundPort };
  return await observe([postrider.daemon.pid], GUESSES.perSecond * GUESSES.seconds, async () => {
    const result = await runModule<LoadResult>('smtp-clients-program.ts', clients);
    // JSON has no NaN.
    return { ...result, p50Ms: Number.NaN, p99Ms: Number.NaN };
  });
}

/** Returns the longest time from a new connection to the 250 of its message, beside clients that wait. */
export async function measureIdle(workspace: Workspace, zone: string): Promise<Measure> {
  const waiting = waitingClients(raiseOpenFiles());
  await using postrider = await startInboundDaemon(workspace, { zone });
  const { daemon, inboundPort } = postrider;
  await measureHttp(postrider);
  const before = { http: await measureHttp(postrider), honest: await measureHonest(inboundPort) };
  await using clients = startModule('smtp-clients-program.ts', { ...waiting, port: inboundPort });
  const open = Number(await clients.line());
  const honest = await measureHonest(inboundPort);
  const { p99Ms } = await measureHttp(postrider);
  const memory = treeMemory([daemon.pid]);
  return {
    figure: percentile(honest, 1),
    p50Ms: percentile(honest, 0.5),
    p99Ms: percentile(honest, 0.99),
    memory,
    details: {
      'connections that are open': open,
      'latest mail before, ms': percentile(before.honest, 1),
      'HTTP p99 before, ms': before.http.p99Ms,
      'HTTP p99, ms': p99Ms,
    },
  };
}

const OPEN_FILES = 40_000;
/** Connections of the honest client, and files that the daemon has open anyway. */
const SPARE_CONNECTIONS = 100;

/** Raises the limit of open files of this process, which those that it starts inherit, and returns it. */
function raiseOpenFiles(): number {
  const hard = execFileSync('prlimit', [`--pid=${process.pid}`, '--nofile', '--noheadings', '--output=HARD']);
  const limit = Math.min(Number(hard) || OPEN_FILES, OPEN_FILES);
  execFileSync('prlimit', [`--pid=${process.pid}`, `--nofile=${limit}`]);
  return limit;
}

/** Returns clients that fit into a limit of open files. A process without rights cannot raise its hard limit. */
function waitingClients(openFiles: number): WaitingClients {
  const connections = Math.floor(openFiles * FILE_SHARES.smtp) - SPARE_CONNECTIONS;
  return { ...WAITING, idle: Math.min(WAITING.idle, connections - WAITING.dripping) };
}

/** Emails that are accepted; none of them is delivered. */
function measureHttp({ load }: InboundDaemon): Promise<LoadResult> {
  return runHttpLoad(load({ connections: HTTP_CONNECTIONS, requests: HTTP_REQUESTS }));
}

async function measureHonest(port: number): Promise<number[]> {
  const times: number[] = [];
  for (let sent = 0; sent < HONEST_MESSAGES; sent++) {
    const since = performance.now();
    const client = converse({ port });
    await sendMessage(client);
    times.push(performance.now() - since);
    client.socket.end();
    await once(client.socket, 'close');
  }
  return times;
}

async function sendMessage({ reply, say }: Conversation): Promise<void> {
  const replies = [await reply()];
  for (const line of [
    'EHLO honest.test',
    `MAIL FROM:<${PLAIN_AUTHOR}>`,
    `RCPT TO:<r@${SENDER_DOMAIN}>`,
    'DATA',
    MESSAGE,
  ])
    replies.push(await say(line));
  if (!replies.at(-1)?.startsWith('250')) throw new Error(`the message was refused: ${replies.join(' | ')}`);
}
