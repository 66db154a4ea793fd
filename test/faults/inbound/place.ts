/** The world of a daemon that receives mail: servers that send to it, readers, and the receiver of a route's posts. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { DaemonProcess } from '../../support/daemon.ts';
import { freePort } from '../../support/loopback.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';
import { finish, type Reckoning } from '../finish.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { createWorld, type World } from '../world.ts';
import { type InboundVerdict, judgeInbound, readTables } from './audit.ts';
import { ROUTE_ADDRESS, zoneOfSenders } from './letter.ts';
import { createReaders } from './readers.ts';
import { Senders } from './senders.ts';

export type InboundWorld = {
  world: World;
  senders: Senders;
  port: number;
  posts: WebhookReceiver;
  close(): Promise<void>;
};

export type InboundReckoning = { inbound: InboundVerdict; outbound: Reckoning };

type Options = {
  random: SeededRandom;
  name: string;
  readers: number;
  dataDir?: string;
  env?: Record<string, string>;
};

const CLIENTS = 3;
const PAUSE_MS = 200;
/** Tasks that a kill interrupted are run again at the next start; those of a few kills wait longer (webhooks/posting/schedule.ts). */
const SETTLE_TIMEOUT_MS = 5 * 60_000;

/** Creates the world. A first life makes the route and the mail of the readers, and ends in peace. */
export async function createInboundWorld(options: Options): Promise<InboundWorld> {
  const { random, name, readers, dataDir } = options;
  const port = await freePort();
  const senders = new Senders(random);
  const posts = await startWebhookReceiver();
  const env = { POSTRIDER_SMTP_PORT: String(port), ...options.env };
  const zone = zoneOfSenders(senders.providerKey);
  const world = await createWorld({ random, name, env, zone, ...(dataDir !== undefined && { dataDir }) });
  const daemon = await world.start();
  const route = { address: ROUTE_ADDRESS, destination: posts.url };
  const made = await daemon.request('POST', '/v1/inbound/routes', world.key, route);
  if (made.status !== 201) throw new Error(`POST /v1/inbound/routes: ${JSON.stringify(made.body)}`);
  const feedback = (await daemon.cli(['queue', 'feedback-address', 'faults'])) as { address: string };
  await daemon.stop();
  await world.endLife(Date.now());
  senders.add(await createReaders(world, readers), feedback.address);
  return {
    world,
    senders,
    port,
    posts,
    async close() {
      await world.close();
      await posts.close();
    },
  };
}

/** Repeats what is open, waits until every task has ended, ends the daemon, and judges. */
export async function finishInbound(place: InboundWorld, daemon: DaemonProcess): Promise<InboundReckoning> {
  const { world, senders, port, posts } = place;
  const signal = AbortSignal.timeout(SETTLE_TIMEOUT_MS);
  const again = { port, clients: CLIENTS, pauseMs: 0, signal, most: 0, persistent: true };
  while (senders.unanswered.length > 0 && !signal.aborted) await senders.run(again);
  const faults =
    senders.unanswered.length === 0 ? [] : [`${senders.unanswered.length} letters were never taken`];
  while (countPending(world.dataDir) > 0 && !signal.aborted) await sleep(PAUSE_MS);
  const outbound = await finish(world, daemon);
  const { letters, refusals } = senders;
  const { endOfLifeMs } = world;
  const inbound = judgeInbound({ letters, posts: posts.received, endOfLifeMs, ...readTables(world.dataDir) });
  faults.push(...refusals.map((refusal) => `answered under load: ${refusal}`));
  return { outbound, inbound: { ...inbound, faults: [...faults, ...inbound.faults] } };
}

/** Opens the database of the running daemon, which a process that only reads may do. */
function countPending(dataDir: string): number {
  const database = new Sqlite(join(dataDir, 'postrider.db'), { readonly: true });
  try {
    const count = database
      .prepare("SELECT count(*) FROM receivedTasks WHERE state = 'pending'")
      .pluck()
      .get();
    return Number(count);
  } finally {
    database.close();
  }
}
