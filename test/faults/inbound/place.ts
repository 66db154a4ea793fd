/** The world of a daemon that receives mail: servers that send to it, readers, a mailbox, and the receiver of a route's posts. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { DomainRow } from '../../../src/db/tables.ts';
import { reportAddress } from '../../../src/domains/report-address.ts';
import type { Id } from '../../../src/system/ids.ts';
import type { DaemonProcess } from '../../support/daemon.ts';
import { freePort } from '../../support/loopback.ts';
import { startWebhookReceiver } from '../../support/webhook-receiver.ts';
import { finish, type Reckoning, repeatUnanswered } from '../finish.ts';
import { withDatabase } from '../open-database.ts';
import { endAndMakeDue } from '../quiet.ts';
import { withRetries } from '../retries.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { firstId, MIXED } from '../submission.ts';
import { beginWorld, HOSTNAME, type World } from '../world.ts';
import { type InboundVerdict, judgeInbound, type Post, readPost, readTables } from './audit.ts';
import {
  isRefused,
  isReturnedSender,
  OPERATOR_ADDRESS,
  REPORTED_ADDRESS,
  ROUTE_ADDRESS,
  zoneOfSenders,
} from './letter.ts';
import { createMailbox, readMailbox } from './mailbox.ts';
import { createReaders } from './readers.ts';
import { Senders } from './senders.ts';

export type InboundWorld = AsyncDisposable & {
  world: World;
  senders: Senders;
  port: number;
  mailboxId: Id<'mbx'>;
  /** Everything that was posted to the route in lives that have ended. */
  posts: Post[];
  /** Number of DMARC reports that were made due. */
  dueReports: number;
};

export type InboundReckoning = {
  inbound: InboundVerdict;
  outbound: Reckoning;
  /** Number of recipients that five kills had interrupted, and that were held for the operator, who released them. */
  released: number;
};

type Options = {
  random: SeededRandom;
  name: string;
  readers: number;
  dataDir?: string;
  env?: Record<string, string>;
};

/** Frequency of emails to the route among those of `MIXED`: on them both sides of the daemon meet. */
const LOCAL_SHARE = 4;
const APART = new Set([OPERATOR_ADDRESS, REPORTED_ADDRESS]);
const CLIENTS = 3;
const PAUSE_MS = 200;
/** Time limit of what remains after the last fault: mail that two faults met waits 6 min for its third attempt. */
const SETTLE_TIMEOUT_MS = 8 * 60_000;
/** Number of looks at which nothing was due, before everything that waits is made due. */
const MAX_IDLE_LOOKS = 10;

/** Creates the world. Its first life makes the route, the mailbox and the mail of the readers, and ends in peace. */
export async function createInboundWorld(options: Options): Promise<InboundWorld> {
  const { random, name, readers, dataDir } = options;
  const port = await freePort();
  const senders = new Senders(random);
  const receiver = await startWebhookReceiver();
  const env = {
    POSTRIDER_SMTP_PORT: String(port),
    POSTRIDER_SUBMISSION_ENABLED: 'false',
    POSTRIDER_INBOUND_POSTMASTER: OPERATOR_ADDRESS,
    POSTRIDER_INBOUND_DMARC_REPORTS: 'true',
    ...options.env,
  };
  const { world: begun, daemon } = await beginWorld({
    random,
    name,
    env,
    zone: zoneOfSenders(senders.key),
    mix: { ...MIXED, local: LOCAL_SHARE },
    localAddress: ROUTE_ADDRESS,
    isApart: (recipient) => APART.has(recipient) || isReturnedSender(recipient),
    refuses: isRefused,
    ...(dataDir !== undefined && { dataDir }),
  });
  const posts: Post[] = [];
  const world: World = {
    ...begun,
    async endLife(endedAtMs) {
      const life = begun.endOfLifeMs.length;
      await begun.endLife(endedAtMs);
      // A post with a file is large, so only what is judged is kept.
      posts.push(...receiver.received.splice(0).map((post) => readPost(post, life)));
    },
  };
  const route = { address: ROUTE_ADDRESS, destination: receiver.url };
  const made = await withRetries(() => daemon.request('POST', '/v1/inbound/routes', world.key, route));
  if (made.status !== 201) throw new Error(`POST /v1/inbound/routes: ${JSON.stringify(made.body)}`);
  const mailboxId = await createMailbox(daemon, world.key);
  const { address: complaints } = (await daemon.cli(['queue', 'feedback-address', 'faults'])) as {
    address: string;
  };
  const reports = reportAddress({ hostname: HOSTNAME }, { id: world.domainId as DomainRow['id'] });
  senders.add(await createReaders(world, daemon, readers), { complaints, reports });
  return {
    world,
    senders,
    port,
    mailboxId,
    posts,
    dueReports: 0,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await receiver.close();
    },
  };
}

/** Repeats what is open, waits until everything has ended, ends the daemon, and judges. */
export async function finishInbound(place: InboundWorld, daemon: DaemonProcess): Promise<InboundReckoning> {
  const { world, senders, port } = place;
  const signal = AbortSignal.timeout(SETTLE_TIMEOUT_MS);
  const again = { port, clients: CLIENTS, pauseMs: 0, signal, most: 0, persistent: true };
  while (senders.unanswered.length > 0 && !signal.aborted) await senders.run(again);
  const faults =
    senders.unanswered.length === 0 ? [] : [`${senders.unanswered.length} letters were never taken`];
  const released = await releaseHeld(daemon);
  faults.push(...(await repeatUnanswered(world, daemon, signal)));
  const outbound = await finish(world, await untilNothingIsOpen(world, daemon, signal));
  const { letters, refusals } = senders;
  const { endOfLifeMs, receiptsApart } = world;
  const inbound = judgeInbound({
    letters,
    localEmails: world.load.acknowledged.filter(({ kind }) => kind === 'local').map(firstId),
    posts: place.posts,
    receipts: receiptsApart,
    dueReports: place.dueReports,
    endOfLifeMs,
    mailbox: readMailbox(world.dataDir, place.mailboxId),
    ...readTables(world.dataDir),
  });
  faults.push(...refusals.map((refusal) => `answered under load: ${refusal}`));
  return { outbound, released, inbound: { ...inbound, faults: [...faults, ...inbound.faults] } };
}

/** Does what an operator does after a series of crashes (queue/state/suspect.ts). Returns the number of recipients. */
async function releaseHeld(daemon: DaemonProcess): Promise<number> {
  const { changed } = (await daemon.cli(['queue', 'release', '--all'])) as { changed: number };
  return changed;
}

/**
 * Waits until nothing is open. What waits for longer than a moment, such as for a third attempt or until the daemon looks for
 * notifications, is made due between two lives. Returns the daemon that runs in the end.
 */
async function untilNothingIsOpen(
  world: World,
  daemon: DaemonProcess,
  signal: AbortSignal,
): Promise<DaemonProcess> {
  let running = daemon;
  let idleLooks = 0;
  while (!signal.aborted) {
    const { open, soon } = countOpen(world.dataDir);
    if (open === 0) break;
    idleLooks = soon > 0 ? 0 : idleLooks + 1;
    if (idleLooks < MAX_IDLE_LOOKS) {
      await sleep(PAUSE_MS);
      continue;
    }
    await endAndMakeDue(world, running);
    running = await world.start();
    idleLooks = 0;
  }
  return running;
}

/**
 * Tasks, reports, recipients and notifications that have not ended, and those of them that are due within ten seconds.
 */
const OPEN = `
  WITH waiting(dueAt) AS (
    SELECT iif(task.runId IS NULL, task.dueAt, 0)
      FROM receivedTasks AS received LEFT JOIN tasks AS task ON task.reference = received.id
     WHERE received.state = 'pending'
    UNION ALL SELECT dueAt FROM dmarcReports WHERE dueAt = 0
    UNION ALL SELECT iif(state = 'in_flight', 0, dueAt) FROM recipients WHERE state IN ('ready', 'in_flight', 'deferred')
    UNION ALL SELECT iif(runId IS NULL, dueAt, 0) FROM tasks WHERE kind = 'failure-notifications'
  )
  SELECT count(*) AS open, count(*) FILTER (WHERE dueAt <= (unixepoch('subsec') + 10) * 1000) AS soon FROM waiting`;

type Open = { open: number; soon: number };

/** Opens the database of the running daemon, which a process that only reads may do. */
function countOpen(dataDir: string): Open {
  const read = (database: Database) => database.prepare<[], Open>(OPEN).get() as Open;
  return withDatabase(dataDir, { readonly: true }, read);
}
