/** A million posts that are due when the daemon starts: how soon the first is made, and how busy the threads are meanwhile. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
import type { DnsServer } from '../support/dns-server.ts';
import { freePort } from '../support/loopback.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { createSender, environment, explain, startDns } from './daemon.ts';
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
    await fill({ dataDir, env, dns, url: receiver.url });
    const daemon = await startDaemonProcess({ dataDir, env });
    const listensAt = Date.now();
    try {
      return await watch(daemon, receiver, listensAt);
    } catch (error) {
      throw explain(daemon, error);
    } finally {
      await daemon.kill('SIGKILL');
    }
  } finally {
    await receiver.close();
    await dns.close();
  }
}

type Filling = { dataDir: string; env: Record<string, string>; dns: DnsServer; url: string };

/** Makes endpoints over the API, and their deliveries and tasks straight in the tables. */
async function fill({ dataDir, env, dns, url }: Filling): Promise<void> {
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

async function watch(daemon: DaemonProcess, receiver: WebhookReceiver, listensAt: number): Promise<Measure> {
  const longest: Record<string, number> = {};
  for (let passedMs = 0; passedMs < WATCHED_MS; passedMs += PERIOD_MS) {
    await delay(PERIOD_MS);
    const { body } = await daemon.request('GET', '/metrics', undefined);
    for (const [, thread = '', seconds] of String(body).matchAll(LONGEST_DELAYS)) {
      const name = `longest delay of ${thread || 'main'}, ms`;
      longest[name] = Math.max(longest[name] ?? 0, Number(seconds) * 1_000);
    }
  }
  await until('the first post', FIRST_TIMEOUT_MS, () => receiver.received.length > 0);
  const [first] = receiver.received;
  return {
    figure: Math.max(0, (first?.receivedAtMs ?? 0) - listensAt),
    memory: treeMemory([daemon.pid]),
    details: { ...longest, 'posts in the first seconds': receiver.received.length },
  };
}
