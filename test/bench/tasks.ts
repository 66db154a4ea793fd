/** A million posts that are due when the daemon starts: how soon the first is made, and how busy the threads are meanwhile. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import type { DnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/loopback.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { createSender, environment, startDns } from './daemon.ts';
import { explain } from './event-loop.ts';
import { treeMemory } from './process-tree.ts';
import { until } from './program.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const TASKS = 1_000_000;
const ENDPOINTS = 10;
const FIRST_TIMEOUT_MS = 60_000;
/** Time for which the threads are watched after the start. */
const WATCHED_MS = 5_000;
const PERIOD_MS = 500;
/** The longest delays of the event loops of the main thread and of the thread that posts. */
const LONGEST_DELAYS = /^postrider_event_loop_delay_max_seconds(?:\{thread="([^"]*)"\})? (\S+)$/gm;

export const tasks: Group = {
  name: 'tasks',
  prepare: async (workspace) => ({
    rows: [
      {
        name: `Postrider: first of ${TASKS.toLocaleString('en')} due posts, after the daemon listens`,
        unit: 'ms',
        aim: '1,000 ms, no thread busy over 50 ms',
        rounds: 1,
        measure: () => measureStart(workspace),
      },
    ],
  }),
};

async function measureStart(workspace: Workspace): Promise<Measure> {
  const receiver = await startWebhookReceiver();
  const dns = await startDns();
  const dataDir = workspace.newFolder('tasks');
  const env = environment(dns, { dataDir, smtpPort: await freePort(), webhooks: true });
  try {
    await createEndpoints({ dataDir, env, dns, url: receiver.url });
    const without = await startAndWatch({ dataDir, env });
    addTasks(dataDir);
    const { listensAt, delays, memory } = await startAndWatch({ dataDir, env });
    await until('the first post', FIRST_TIMEOUT_MS, () => receiver.received.length > 0);
    const [first] = receiver.received;
    const named = (found: Delays, when: string) =>
      [...found].map(([thread, ms]) => [`longest delay of ${thread}${when}, ms`, ms] as const);
    const compared = [...named(delays, ''), ...named(without.delays, ' without tasks')];
    return {
      figure: Math.max(0, (first?.receivedAtMs ?? 0) - listensAt),
      memory,
      details: { ...Object.fromEntries(compared), 'posts meanwhile': receiver.received.length },
    };
  } finally {
    await receiver.close();
    await dns.close();
  }
}

type Filling = { dataDir: string; env: Record<string, string>; dns: DnsServer; url: string };

async function createEndpoints({ dataDir, env, dns, url }: Filling): Promise<void> {
  const daemon = await startDaemonProcess({ dataDir, env });
  const { key } = await createSender(daemon, dns);
  for (let index = 0; index < ENDPOINTS; index++) {
    const { status } = await daemon.request('POST', '/v1/webhooks', key, {
      url,
      events: ['domain.verified'],
    });
    if (status !== 201) throw new Error(`the endpoint was refused with ${status}`);
  }
  await daemon.stop();
}

/** Adds deliveries and their tasks straight to the tables. */
function addTasks(dataDir: string): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.pragma('foreign_keys = OFF');
  database.exec(`
    INSERT INTO webhookDeliveries (id, endpointId, tenantId, eventId, state, attempts, createdAt)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${TASKS / ENDPOINTS})
    SELECT printf('whd_%s%020d', substr(endpoint.id, -6), i), endpoint.id, endpoint.tenantId,
           (SELECT id FROM events LIMIT 1), 'pending', 0, ${Date.now()}
      FROM webhookEndpoints AS endpoint, n;
    INSERT INTO tasks (kind, reference, queueKey, tenantId, dueAt)
    SELECT 'webhooks', id, endpointId, tenantId, ${Date.now()} FROM webhookDeliveries;`);
  database.close();
}

/** The longest delay of each thread that tells, in milliseconds. */
type Delays = ReadonlyMap<string, number>;

/** Starts the daemon, watches its threads for a while, and kills it. */
async function startAndWatch(options: { dataDir: string; env: Record<string, string> }) {
  const daemon = await startDaemonProcess(options);
  const listensAt = Date.now();
  try {
    const delays = await watch(daemon);
    return { listensAt, delays, memory: treeMemory([daemon.pid]) };
  } catch (error) {
    throw explain(daemon, error);
  } finally {
    await daemon.kill('SIGKILL');
  }
}

async function watch(daemon: DaemonProcess): Promise<Delays> {
  const longest = new Map<string, number>();
  for (let passedMs = 0; passedMs < WATCHED_MS; passedMs += PERIOD_MS) {
    await delay(PERIOD_MS);
    const { body } = await daemon.request('GET', '/metrics', undefined);
    for (const [, thread = 'main', seconds] of String(body).matchAll(LONGEST_DELAYS))
      longest.set(thread, Math.max(longest.get(thread) ?? 0, Number(seconds) * 1_000));
  }
  return longest;
}
