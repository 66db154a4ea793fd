/**
 * Controls the queue in a test: it opens an application with a tenant that can send, accepts mail over HTTP, and runs
 * deliveries when the test asks for them.
 */
import assert from 'node:assert/strict';
import type { App } from '../../src/app.ts';
import { createSigningKeys } from '../../src/domains/signing-key.ts';
import { createLinks } from '../../src/links/links.ts';
import { type Claim, claimDeliveries, leaseFrom } from '../../src/queue/claim.ts';
import { Precedence } from '../../src/queue/contents/precedence.ts';
import { DeliveryTrace } from '../../src/queue/conversation/trace.ts';
import { ALONE } from '../../src/queue/dealer.ts';
import { deliver } from '../../src/queue/deliver.ts';
import type { DeliveryApp } from '../../src/queue/delivery-app.ts';
import { DeliveryMonitor } from '../../src/queue/delivery-monitor.ts';
import { listDueQueues } from '../../src/queue/due-store.ts';
import { createProbeWork } from '../../src/queue/held/probe.ts';
import { countHeld } from '../../src/queue/held/store.ts';
import type { LocalReceiver } from '../../src/queue/local-receiver.ts';
import type { Verdict } from '../../src/queue/outcome/outcome.ts';
import { packagedReplies, type Replies } from '../../src/queue/outcome/replies/replies.ts';
import { createClaimPreparer } from '../../src/queue/prepare.ts';
import { Shaping } from '../../src/queue/shaping/shaping.ts';
import { Sources } from '../../src/queue/sources/sources.ts';
import type { Attempt, Evaluated } from '../../src/queue/transport.ts';
import { recoverQueue, startDelivering } from '../../src/queue/worker.ts';
import type { System } from '../../src/system/system.ts';
import type { Work } from '../../src/system/worker.ts';
import { DeliveryTls } from '../../src/tls-policies/delivery-tls.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';
import { pause } from './pause.ts';
import { openTestApp, type TestApp, type TestResponse } from './test-app.ts';
import { zoneDns } from './zone-dns.ts';

export const START_MS = Date.parse('2026-03-01T12:00:00.000Z');
export const SENDER_DOMAIN = 'sender.example';

export type Spool = TestApp & {
  clock: FakeClock;
  dns: ReturnType<typeof zoneDns>;
  /** Adds lines to the zone, next to those of the sender's domain. */
  addZone(text: string): void;
  /** Adds a domain to the tenant of a live key, publishes its records and verifies it. */
  addDomain(key: string, name: string): Promise<void>;
  /** Accepts a live email from the verified domain and returns its id. */
  accept(to: string | string[], more?: Accepted): Promise<string>;
  /** Accepts an email to each of `user0@domain`, `user1@domain`, … and returns their ids. */
  acceptMany(count: number, domain: string): Promise<string[]>;
  /** Delivers all mail that is due now. */
  deliverDue(): Promise<void>;
  /** Resolves once a running dispatcher has delivered everything: no mail is due or in flight. */
  settled(): Promise<void>;
  /** Claims all mail that is due now, as the run of the daemon with this `runId` would, and delivers nothing. */
  claim(runId?: string): Promise<Claim[]>;
  /** Begins the next probe of a suspect, if one is due. */
  startProbe(probes?: Work<'probe'>): Promise<void>;
  /** Claims all due mail and crashes, once for each `runId`. It returns how many messages each run claimed. */
  crash(...runIds: string[]): Promise<number[]>;
  /** Claims due mail and simulates a crash of the daemon, again and again until a recipient is held. */
  crashUntilHeld(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the response.
  email(id: string): Promise<any>;
  /** Returns the first recipient of an email. */
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the response.
  recipient(id: string): Promise<any>;
  cancel(id: string): Promise<TestResponse>;
};

/** Fields of an email, over those of `accept`, and the key that sends it. */
type Accepted = { key?: string; [field: string]: unknown };
type Published = { type: string; name: string; value: string };

/** The reply table that comes with the program. */
export const PACKAGED: Replies = {
  get table() {
    return packagedReplies();
  },
};

/** Fails the test: its mail is not to domains that are received here. */
export const noReceiver: LocalReceiver = () => Promise.reject(new Error('the test has no receiver'));

type SpoolOptions = {
  /** Port of every mail server in the zone. */
  smtpPort?: number;
  system?: Partial<System>;
  env?: Record<string, string>;
  /** Takes the mail for domains that are received here. */
  receiveLocally?: LocalReceiver;
};

/** Opens the application. */
export async function openSpool(options: SpoolOptions = {}): Promise<Spool> {
  const clock = createFakeClock(START_MS);
  const dns = zoneDns('');
  const testApp = await openTestApp({
    system: { clock, dns, random: () => 0.5, ...options.system },
    env: { POSTRIDER_OUTBOUND_SMTP_PORT: String(options.smtpPort ?? 25), ...options.env },
  });
  const { request, liveKey } = testApp;
  let zone = '';
  function addZone(text: string): void {
    zone = `${zone}\n${text}`;
    dns.setZone(zone);
  }
  async function addDomain(key: string, name: string): Promise<void> {
    const created = await request('POST', '/v1/domains', { key, body: { name } });
    assert.equal(created.status, 201);
    for (const record of created.body.records as (Published & { alternative?: Published })[]) {
      const { type, name, value } = record.alternative ?? record;
      addZone(`${name} ${type} ${type === 'TXT' ? JSON.stringify(value) : value}`);
    }
    const verified = await request('POST', `/v1/domains/${created.body.id}/verify`, { key });
    assert.equal(verified.body.status, 'verified');
  }
  await addDomain(liveKey, SENDER_DOMAIN);
  async function accept(to: string | string[], { key = liveKey, ...more }: Accepted = {}): Promise<string> {
    const email = { from: `Ada <ada@${SENDER_DOMAIN}>`, to, subject: 'Hi', text: 'Hello' };
    const body = { ...email, type: 'transactional', ...more };
    const accepted = await request('POST', '/v1/emails', { key, body });
    assert.equal(accepted.status, 200, JSON.stringify(accepted.body));
    return accepted.body.id;
  }
  const email = async (id: string) => (await request('GET', `/v1/emails/${id}`, { key: liveKey })).body;
  return {
    ...testApp,
    clock,
    dns,
    addZone,
    addDomain,
    accept,
    async acceptMany(count, domain) {
      const ids: string[] = [];
      for (let index = 0; index < count; index++) ids.push(await accept(`user${index}@${domain}`));
      return ids;
    },
    async deliverDue() {
      const dispatcher = startDelivering(testApp.app, options.receiveLocally ?? noReceiver, {
        replies: PACKAGED,
      });
      await settled(testApp.app);
      await dispatcher.stop(STOP_MS);
    },
    settled: () => settled(testApp.app),
    claim: (runId) => claimDue(testApp.app, runId),
    startProbe: (probes) => startProbe(testApp.app, probes),
    async crash(...runIds) {
      const counts: number[] = [];
      for (const runId of runIds) {
        counts.push((await claimDue(testApp.app, runId)).length);
        await recoverQueue(testApp.app);
        await clock.advance(RECOVERED_MS);
      }
      return counts;
    },
    crashUntilHeld: () => crashUntilHeld(testApp.app, clock),
    email,
    recipient: async (id) => (await email(id)).recipients[0],
    cancel: (id) => request('POST', `/v1/emails/${id}/cancel`, { key: liveKey }),
  };
}

/** Maximum number of recipients of a queue that are claimed at once. */
const MAX_CLAIMED = 100;

async function claimDue(app: App, runId = app.runId): Promise<Claim[]> {
  const { db, clock } = app;
  const now = clock.now();
  const leasedUntil = leaseFrom(clock.elapsed());
  const due = await db.query(listDueQueues, { after: -1, until: now });
  const queues = due.map(({ key }) => key);
  // Queues with a target come first, since their mail leaves for another site than that of their domain.
  const take = queues
    .toSorted()
    .reverse()
    .map((queue) => ({ queue, limit: MAX_CLAIMED }));
  const { deliveries } = await db.commit(claimDeliveries, {
    now,
    runId,
    leasedUntil,
    site: 'test',
    take,
    queues,
    retriesOnly: [],
    warmUp: null,
  });
  const claimedAt = clock.elapsed();
  return deliveries.map((delivery, id) => ({
    ...delivery,
    ...{ id, site: 'test', scheduledFor: '', claimedAt, tries: 0, brokenOff: undefined, prepared: undefined },
    conversation: [],
  }));
}

/** Returns the application with the functions that a session needs. */
export function deliveryAppOf(app: App): DeliveryApp {
  return {
    ...app,
    receiveLocally: noReceiver,
    peers: ALONE,
    precedence: new Precedence(app.clock),
    sources: new Sources(app),
    shaping: new Shaping(app),
    replies: PACKAGED,
    monitor: new DeliveryMonitor(app),
    trace: new DeliveryTrace(),
    tls: new DeliveryTls(app),
    prepare: createClaimPreparer({ ...app, signingKeys: createSigningKeys(app), links: createLinks(app) }),
  };
}

/** Delivers a claim. `transact` replaces the SMTP connection. */
export function deliverBy(
  app: App,
  claim: Claim,
  transact: (claim: Claim) => Promise<Attempt>,
): Promise<void> {
  const transport = { open: async () => undefined, transact };
  return deliver(deliveryAppOf(app), claim, { transport, onReady() {}, putBack() {} });
}

/** Returns an attempt that ended with these verdicts. */
export function attemptWith(
  verdicts: ReadonlyMap<`rcp_${string}`, Verdict>,
  signature: string | null = null,
): Evaluated {
  return { kind: 'evaluated', verdicts, undecided: undefined, signature, transactionMs: 0 };
}

/** Time after which all recovered mail is due, because its due times are spread over a shorter time. */
const RECOVERED_MS = 10_000;
/** Maximum number of crashes, after which at least one of a few recipients must be held. */
const MAX_CRASHES = 50;

async function startProbe(app: App, probes = createProbeWork(app)): Promise<void> {
  for (const probe of (await probes.lease(1)).items) await probes.run(probe);
}

async function crashUntilHeld(app: App, clock: FakeClock): Promise<void> {
  const before = await countHeld(app.db.read);
  for (let crash = 1; (await countHeld(app.db.read)) === before; crash++) {
    assert.ok(crash <= MAX_CRASHES, 'nothing is held');
    await clock.advance(RECOVERED_MS);
    await startProbe(app);
    assert.ok((await claimDue(app, `crash ${crash}`)).length > 0, 'nothing is due');
    await recoverQueue(app);
  }
}

const STOP_MS = 30_000;
/** Maximum wait for the queue. Only a test that fails waits this long. */
const MAX_WAIT_MS = 30_000;

/** Waits until no mail is due or in flight. It polls, because the fake clock stands still while I/O makes progress. */
async function settled({ db, clock }: App): Promise<void> {
  const deadline = performance.now() + MAX_WAIT_MS;
  while (performance.now() < deadline) {
    const busy = await db.read
      .selectFrom('recipients')
      .select('id')
      .where((where) =>
        where.or([
          where('state', '=', 'in_flight'),
          where.and([where('state', 'in', ['ready', 'deferred']), where('dueAt', '<=', clock.now())]),
        ]),
      )
      .executeTakeFirst();
    if (!busy) return;
    await pause();
  }
  assert.fail('the queue did not come to rest');
}

export const eventTypes = (email: { events: { type: string }[] }): string[] =>
  email.events.map((event) => event.type);
