/**
 * Counts what one message costs in each thread of the daemon: processor time, allocations, SQL statements, commits and frames of the WAL.
 * Unlike rates, these figures hardly depend on what else the machine does. `BENCH_STATEMENTS=1` also prints how often each SQL text ran.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startPostrider } from './daemon.ts';
import { startInboundDaemon } from './inbound-daemon.ts';
import { PLAIN_AUTHOR, writeInboundMessages } from './inbound-messages.ts';
import { SENDER_DOMAIN } from './message.ts';
import { observe, observeSending, runHttpLoad } from './observe.ts';
import type { Group, Measure } from './row.ts';
import { startSink } from './sink.ts';
import { runSmtpSource } from './smtp-source.ts';
import type { ThreadCounters } from './thread-counters.ts';
import type { Workspace } from './workspace.ts';

const WARM_UP_MESSAGES = 1_500;
const MESSAGES = 4_000;
const CONNECTIONS = 20;
/** Longer than the interval at which threads store their counters. */
const SETTLE_MS = 1_200;
/** Threads that use less processor time for each message are not shown, nor statements that run less often. */
const LEAST_CPU_MS = 0.005;
const LEAST_RATE = 0.02;
const PRELOAD = fileURLToPath(new URL('thread-counters.ts', import.meta.url));

export const messageCost: Group = {
  name: 'message-cost',
  async prepare(workspace) {
    const name = (path: string) => `cost of a message by thread: ${path}, ${CONNECTIONS} connections`;
    return {
      rows: [
        { name: name('API to sink'), unit: 'msg/s', measure: () => measureSending(workspace) },
        {
          name: name('port 25 to disk'),
          unit: 'msg/s',
          measure: () => measureReceiving(workspace, CONNECTIONS),
        },
        {
          name: 'cost of a message by thread: port 25 to disk, 1 session',
          unit: 'msg/s',
          measure: () => measureReceiving(workspace, 1),
        },
      ],
    };
  },
};

async function measureSending(workspace: Workspace): Promise<Measure> {
  await using sink = await startSink(workspace);
  const folder = workspace.newFolder('counters');
  await using postrider = await counted(folder, () =>
    startPostrider({
      ...{ dataDir: workspace.newFolder('postrider'), smtpPort: sink.port },
      connectionsPerSite: CONNECTIONS,
    }),
  );
  const send = (requests: number) =>
    observeSending([postrider.daemon.pid], requests, sink, () =>
      runHttpLoad(postrider.load({ connections: CONNECTIONS, requests })),
    );
  await send(WARM_UP_MESSAGES);
  return await withCounters(folder, () => send(MESSAGES));
}

async function measureReceiving(workspace: Workspace, sessions: number): Promise<Measure> {
  const { zone, small: message } = writeInboundMessages(workspace);
  const folder = workspace.newFolder('counters');
  await using postrider = await counted(folder, () => startInboundDaemon(workspace, { zone }));
  const { daemon, inboundPort: port } = postrider;
  const addresses = { recipient: `r@${SENDER_DOMAIN}`, sender: PLAIN_AUTHOR };
  const send = (messages: number) =>
    observe([daemon.pid], messages, () => runSmtpSource({ message, messages, port, sessions, ...addresses }));
  await send(WARM_UP_MESSAGES);
  return await withCounters(folder, () => send(MESSAGES));
}

/** Starts a daemon whose threads count. The variables must not reach other programs of the bench. */
async function counted<Daemon>(folder: string, start: () => Promise<Daemon>): Promise<Daemon> {
  process.env['BENCH_COUNTERS'] = folder;
  process.env['NODE_OPTIONS'] = `--import=${PRELOAD}`;
  try {
    return await start();
  } finally {
    delete process.env['BENCH_COUNTERS'];
    delete process.env['NODE_OPTIONS'];
  }
}

/** Adds what the threads have done meanwhile, for each message. */
async function withCounters(folder: string, run: () => Promise<Measure>): Promise<Measure> {
  await setTimeout(SETTLE_MS);
  const before = readCounters(folder);
  const measure = await run();
  await setTimeout(SETTLE_MS);
  const details: Record<string, number> = {};
  for (const [name, after] of readCounters(folder)) {
    const start = before.get(name);
    const each = (figure: 'cpuMs' | 'allocatedBytes' | 'statements' | 'commits' | 'walFrames') =>
      (after[figure] - (start?.[figure] ?? 0)) / MESSAGES;
    if (each('cpuMs') < LEAST_CPU_MS) continue;
    details[`${name}: CPU, µs`] = each('cpuMs') * 1_000;
    details[`${name}: allocated, bytes`] = each('allocatedBytes');
    details[`${name}: SQL statements`] = each('statements');
    if (each('commits') === 0) continue;
    details[`${name}: commits`] = each('commits');
    details[`${name}: WAL frames`] = each('walFrames');
    if (process.env['BENCH_STATEMENTS'] !== undefined) printStatements(after, start);
  }
  return { ...measure, details };
}

function readCounters(folder: string): Map<string, ThreadCounters> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    files.map((file) => [
      file.slice(0, -'.json'.length),
      JSON.parse(readFileSync(join(folder, file), 'utf8')),
    ]),
  );
}

function printStatements({ thread, bySql }: ThreadCounters, before: ThreadCounters | undefined): void {
  const rates = Object.entries(bySql).map(([sql, times]) => ({
    sql,
    rate: (times - (before?.bySql[sql] ?? 0)) / MESSAGES,
  }));
  for (const { sql, rate } of rates.sort((a, b) => b.rate - a.rate))
    if (rate >= LEAST_RATE) console.error(`${thread} ${rate.toFixed(2)} ${sql.replaceAll(/\s+/g, ' ')}`);
}
