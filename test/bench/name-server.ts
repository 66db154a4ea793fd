/** The built-in name server: what an answer costs, and how long an honest client waits during a flood. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { encode } from 'dns-packet';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import { freePort } from '../support/loopback.ts';
import type { NameServerLoad, NameServerLoadResult } from './name-server-load-program.ts';
import { percentile } from './percentile.ts';
import { treeCpuMs } from './process-tree.ts';
import { runModule } from './program.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const HOSTNAME = 'postrider.test';
/** Source addresses of the honest load, each below its limit: 20 queries a second. */
const SOURCES = 1_000;
const PER_SECOND = 20_000;
/** A flood of a few forged networks, far beyond their limits. */
const FLOOD_SOURCES = 10;
const FLOOD_PER_SECOND = 30_000;
const SECONDS = 5;
const HONEST_INTERVAL_MS = 20;
const HONEST_TIMEOUT_MS = 1_000;

export const nameServer: Group = {
  name: 'nameserver',
  prepare: async (workspace) => ({
    rows: [
      {
        name: 'name server: UDP, 1,000 networks, for a second of processor time',
        unit: 'answers/s',
        aim: '20,000 on a core',
        measure: () => measureAnswers(workspace),
      },
      {
        name: 'name server: an honest query during a flood, p99',
        unit: 'ms',
        aim: 'under 10 ms',
        measure: () => measureFlood(workspace),
      },
    ],
  }),
};

async function measureAnswers(workspace: Workspace): Promise<Measure> {
  await using server = await start(workspace);
  const { daemon, port } = server;
  const load = { port, hostname: HOSTNAME, sources: SOURCES, perSecond: PER_SECOND, seconds: SECONDS };
  const before = treeCpuMs([daemon.pid]);
  const { sent, answered, seconds } = await runLoad(load);
  const cpuMs = treeCpuMs([daemon.pid]) - before;
  return {
    figure: answered / (cpuMs / 1_000),
    cpuMsPerMessage: cpuMs / answered,
    details: { 'answers/s': answered / seconds, '% of queries answered': (100 * answered) / sent },
  };
}

async function measureFlood(workspace: Workspace): Promise<Measure> {
  await using server = await start(workspace);
  const { port } = server;
  const flood = {
    port,
    hostname: HOSTNAME,
    sources: FLOOD_SOURCES,
    perSecond: FLOOD_PER_SECOND,
    seconds: SECONDS,
  };
  const flooding = runLoad(flood);
  let isOver = false;
  const ended = flooding.finally(() => {
    isOver = true;
  });
  // The flood begins once its process has started.
  await delay(1_500);
  const latencies: number[] = [];
  let lost = 0;
  while (!isOver) {
    const latency = await askHonestly(port);
    if (latency === undefined) lost += 1;
    else latencies.push(latency);
    await delay(HONEST_INTERVAL_MS);
  }
  const { sent, answered, truncated, seconds } = await ended;
  return {
    figure: percentile(latencies, 0.99),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    details: {
      'honest queries': latencies.length,
      'honest queries without an answer': lost,
      'flood, queries/s': sent / seconds,
      'flood, answers/s': answered / seconds,
      'flood, truncated/s': truncated / seconds,
    },
  };
}

/** Returns the time until the answer in milliseconds, from an address outside of the flood; undefined without one. */
async function askHonestly(port: number): Promise<number | undefined> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const asked = performance.now();
  const signal = AbortSignal.timeout(HONEST_TIMEOUT_MS);
  socket.send(
    encode({ type: 'query', id: 2, flags: 0, questions: [{ type: 'A', name: HOSTNAME }] }),
    port,
    '127.0.0.1',
  );
  try {
    await once(socket, 'message', { signal });
    return performance.now() - asked;
  } catch {
    return undefined;
  } finally {
    socket.close();
  }
}

function runLoad(load: NameServerLoad): Promise<NameServerLoadResult> {
  return runModule<NameServerLoadResult>('name-server-load-program.ts', load);
}

type Running = AsyncDisposable & { daemon: DaemonProcess; port: number };

async function start(workspace: Workspace): Promise<Running> {
  const port = await freePort();
  const daemon = await startDaemonProcess({
    dataDir: workspace.newFolder('nameserver'),
    env: {
      POSTRIDER_HOSTNAME: HOSTNAME,
      POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1,2001:db8::1',
      POSTRIDER_NAMESERVER_ENABLED: 'true',
      POSTRIDER_NAMESERVER_ADDRESSES: '0.0.0.0',
      POSTRIDER_NAMESERVER_PORT: String(port),
    },
  });
  return { daemon, port, [Symbol.asyncDispose]: () => daemon.stop() };
}
