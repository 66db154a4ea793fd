/**
 * A daemon with two tenants, whose audiences are filled once and copied for each measure, and the requests about their
 * broadcasts.
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon.ts';
import type { DnsServer } from '../../support/dns-server.ts';
import { createLiveSender } from '../../support/live-sender.ts';
import { freePort } from '../../support/loopback.ts';
import { ask as askDaemon, createSender, environment, RECIPIENT_ZONE, startDns } from '../daemon.ts';
import { SENDER } from '../message.ts';
import { runModule } from '../program.ts';
import type { Workspace } from '../workspace.ts';
import { BROADCAST_HTML, BROADCAST_SUBJECT } from './content.ts';
import type { FillInput } from './fill-program.ts';

export type Tenant = { key: string; from: string; audienceId: string };

/** What was filled: `everybody` is the large audience, `many` and `others` are those of the first and the second tenant. */
export type Filled = {
  dataDir: string;
  dns: DnsServer;
  everybody: Tenant;
  many: Tenant;
  others: Tenant;
};

export type Sizes = {
  /** Contacts of the large audience, whose ledger is written. */
  everybody: number;
  /** Contacts of an audience that is sent to completely. */
  many: number;
  /** Length of a measure during a broadcast, in milliseconds. */
  windowMs: number;
};

export type Newsroom = {
  daemon: DaemonProcess;
  /** Sends a broadcast to the audience of a tenant. Returns its id. */
  send(tenant: Tenant, more?: object): Promise<string>;
  show(tenant: Tenant, id: string): Promise<{ status: string; counts: Record<string, number> }>;
  ask(method: 'GET' | 'POST' | 'PATCH', path: string, tenant: Tenant, body?: object): Promise<unknown>;
};

const OTHER_DOMAIN = 'other-sender.test';

export async function fill(workspace: Workspace, sizes: Sizes): Promise<Filled> {
  const dataDir = workspace.newFolder('marketing');
  const dns = await startDns();
  const env = environment(dns, { dataDir, smtpPort: await freePort() });
  const daemon = await startDaemonProcess({ dataDir, env });
  const first = await createSender(daemon, dns);
  const otherZone = `${RECIPIENT_ZONE}\n${first.zone}`;
  const second = await createLiveSender(daemon, dns, { domain: OTHER_DOMAIN, otherZone });
  await daemon.stop();
  const nowMs = Date.now();
  const input = {
    dataDir,
    nowMs,
    audiences: [
      { tenantId: first.tenantId, contacts: sizes.everybody },
      { tenantId: first.tenantId, contacts: sizes.many },
      { tenantId: second.tenantId, contacts: sizes.many },
    ],
  } satisfies FillInput;
  const ids = await runModule<string[]>('marketing/fill-program.ts', input);
  const [everybody = '', many = '', others = ''] = ids;
  console.error(`the audiences: filled in ${Date.now() - nowMs} ms`);
  const { key } = first;
  return {
    dataDir,
    dns,
    everybody: { key, from: SENDER, audienceId: everybody },
    many: { key, from: SENDER, audienceId: many },
    others: { key: second.key, from: `bench@${OTHER_DOMAIN}`, audienceId: others },
  };
}

export type Opening = { smtpPort: number; env?: Record<string, string> };

/** Runs something with a daemon on a copy of what was filled. `run` may stop the daemon itself. */
export async function withNewsroom<Result>(
  workspace: Workspace,
  filled: Filled,
  { smtpPort, env = {} }: Opening,
  run: (newsroom: Newsroom) => Promise<Result>,
): Promise<Result> {
  const dataDir = workspace.newFolder('newsroom');
  cpSync(filled.dataDir, dataDir, { recursive: true });
  const daemon = await startDaemonProcess({
    dataDir,
    env: { ...environment(filled.dns, { dataDir, smtpPort, connectionsPerSite: CONNECTIONS }), ...env },
    outputFile: join(dataDir, 'log'),
  });
  try {
    return await run(createNewsroom(daemon));
  } finally {
    await daemon.kill('SIGKILL');
  }
}

/** The same for the bare path. */
export const CONNECTIONS = 20;
const LOOK_EVERY_MS = 100;

function createNewsroom(daemon: DaemonProcess): Newsroom {
  const ask: Newsroom['ask'] = (method, path, { key }, body) =>
    askDaemon(daemon, [method, `/v1${path}`, key], body);
  return {
    daemon,
    ask,
    async send(tenant, more = {}) {
      const { audienceId, from } = tenant;
      const draft = { audienceId, from, subject: BROADCAST_SUBJECT, html: BROADCAST_HTML, ...more };
      const { id } = (await ask('POST', '/broadcasts', tenant, draft)) as { id: string };
      await ask('POST', `/broadcasts/${id}/send`, tenant);
      return id;
    },
    show: async (tenant, id) => (await ask('GET', `/broadcasts/${id}`, tenant)) as never,
  };
}

/** Asks for a broadcast until `isSo` says yes. */
export async function untilCounts(
  newsroom: Newsroom,
  { tenant, id, timeoutMs }: { tenant: Tenant; id: string; timeoutMs: number },
  isSo: (counts: Record<string, number>, status: string) => boolean,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { counts, status } = await newsroom.show(tenant, id);
    if (isSo(counts, status)) return;
    if (performance.now() > deadline)
      throw new Error(`${status}, ${JSON.stringify(counts)} after ${timeoutMs} ms`);
    await delay(LOOK_EVERY_MS);
  }
}
