/** What happens between two steps of a broadcast: its owner, its contacts and the clock change at every point. */
import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import type { App } from '../../../src/app.ts';
import { createProbeWork } from '../../../src/queue/held/probe.ts';
import { NO_REPORT, verdictForAll } from '../../../src/queue/outcome/outcome.ts';
import { moveQueue } from '../../../src/queue/state/recover.ts';
import { DAY_MS } from '../../../src/system/clock.ts';
import { moveTasks } from '../../../src/tasks/upkeep.ts';
import { importCsv } from '../../imports/jobs.ts';
import { attemptWith, deliverBy } from '../../support/spool.ts';
import type { TestMethod } from '../../support/test-app.ts';
import { TAG } from '../fixtures.ts';
import { createInterruptible } from './between.ts';
import { openCampaign } from './campaign.ts';
import { createStepper } from './stepper.ts';

const CONTACTS = 5;
const DELIVERED = { kind: 'delivered', report: { ...NO_REPORT, phase: 'data', text: 'Taken' } } as const;

const campaign = await openCampaign();
for (let index = 0; index < CONTACTS; index++) await campaign.addContact(`r${index}@readers.example`);
const interruptible = createInterruptible(campaign.spool.app);
const interrupt = interruptible.before;
const stepper = createStepper(campaign.spool, interruptible.app);
after(() => campaign[Symbol.asyncDispose]());
afterEach(async () => {
  await campaign.spool.clock.advance(100);
  await stepper.drain();
  stepper.got.clear();
});

async function start(): Promise<string> {
  const id = await campaign.draft();
  assert.equal((await campaign.act(id, 'send')).status, 200);
  return id;
}

test('copies that were parked during one step leave after a resume during the same step', async () => {
  const id = await start();
  const parkAndResume = async () => {
    assert.equal((await campaign.act(id, 'pause')).status, 200);
    assert.equal(await stepper.claim(), 0, 'the copies are parked');
    assert.equal((await campaign.act(id, 'resume')).status, 200);
  };
  await stepper.step();
  await parkAndResume();
  interrupt('broadcasts.copy', parkAndResume);
  assert.ok(await stepper.step());
  await campaign.spool.clock.advance(100);
  await stepper.drain();
  assert.equal(stepper.got.size, CONTACTS);
});

/** The points between two steps of a copy, each with the way to let something happen there. */
const POINTS = {
  'while the ledger is written': (happen: Happen) => interrupt('broadcasts.storeSlice', happen),
  'before the copy': (happen: Happen) => interrupt('broadcasts.copy', happen),
  'before the claim': undefined,
  'before the outcome': undefined,
} as const;
type Point = keyof typeof POINTS;
type Happen = () => Promise<unknown>;

/** Sends a broadcast and lets something happen at a point, which the daemon may notice later. Returns it as it ends. */
async function sendWith(point: Point, happen: Happen, notice: Happen = async () => {}) {
  const id = await start();
  POINTS[point]?.(happen);
  await stepper.step();
  if (point === 'before the claim') await happen();
  await notice();
  await stepper.claim();
  if (point === 'before the outcome') await happen();
  await notice();
  while (stepper.claims > 0) await stepper.deliver();
  await campaign.spool.clock.advance(100);
  await stepper.drain();
  const { status, counts } = await campaign.show(id);
  const page = await ask('GET', `/broadcasts/${id}/recipients?limit=100`);
  return {
    status,
    counts,
    recipients: page.body.data as { email: string; status: string; reason: string }[],
  };
}

const ask = (method: TestMethod, path: string, body?: object) =>
  campaign.spool.request(method, `/v1${path}`, { key: campaign.spool.liveKey, ...(body && { body }) });

/** Sends a request that must succeed. */
async function expectOk(method: TestMethod, path: string, body?: object): Promise<void> {
  const answer = await ask(method, path, body);
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
}

type Change = {
  happen(contact: string, email: string): Promise<unknown>;
  /** What becomes of the contact when the change comes before its copy, before its claim and after that. */
  ends: { copy: string; claim: string };
  /** Address that gets the broadcast when the change comes before the copy, if it is not the first one. */
  movedTo?: (email: string) => string;
};

const patch = (body: object) => (contact: string) => expectOk('PATCH', contact, body);
const contactsPath = () => `/audiences/${campaign.audienceId}/contacts`;
const moved = (email: string) => `new-${email}`;

const CHANGES: Record<string, Change> = {
  unsubscribes: { happen: patch({ unsubscribed: true }), ends: { copy: 'optedOut', claim: 'optedOut' } },
  'is suppressed': {
    happen: (_, email) => expectOk('POST', '/suppressions', { email }),
    ends: { copy: 'suppressed', claim: 'suppressed' },
  },
  'is deleted': {
    happen: (contact) => expectOk('DELETE', contact),
    ends: { copy: 'canceled', claim: 'canceled' },
  },
  'unsubscribes and is deleted': {
    async happen(contact) {
      await expectOk('PATCH', contact, { unsubscribed: true });
      await expectOk('DELETE', contact);
    },
    ends: { copy: 'canceled', claim: 'canceled' },
  },
  'gets another name': {
    happen: patch({ firstName: 'Another' }),
    ends: { copy: 'delivered', claim: 'delivered' },
  },
  'gets another address': {
    happen: (contact, email) => expectOk('PATCH', contact, { email: moved(email) }),
    ends: { copy: 'delivered', claim: 'delivered' },
    movedTo: moved,
  },
  'gets another address and unsubscribes there': {
    happen: (contact, email) => expectOk('PATCH', contact, { email: moved(email), unsubscribed: true }),
    ends: { copy: 'optedOut', claim: 'optedOut' },
    movedTo: moved,
  },
  'is imported again': {
    happen: (_, email) => importAgain(email),
    ends: { copy: 'delivered', claim: 'delivered' },
  },
  // The new contact was created after the start, so it is not part of the broadcast.
  'is deleted and imported again': {
    async happen(contact, email) {
      await expectOk('DELETE', contact);
      await importAgain(email);
    },
    ends: { copy: 'canceled', claim: 'canceled' },
  },
};

async function importAgain(email: string): Promise<void> {
  const path = `/v1${contactsPath()}/imports`;
  const { created, updated } = await importCsv(campaign.spool, path, `email,firstName\n${email},Again\n`);
  assert.equal(created + updated, 1);
}

let people = 0;
for (const [what, { happen, ends, movedTo }] of Object.entries(CHANGES)) {
  test(`a contact who ${what} at any step of the copy gets it at most once, and the ledger says why not`, async () => {
    for (const point of Object.keys(POINTS) as Point[]) {
      stepper.got.clear();
      const email = `changing${people++}@readers.example`;
      const contact = `${contactsPath()}/${await campaign.addContact(email)}`;
      const { status, counts, recipients } = await sendWith(point, () => happen(contact, email));
      assert.deepEqual([status, counts.waiting + counts.queued], ['sent', 0], point);
      const isClaimed = point === 'before the outcome';
      const isCopied = isClaimed || point === 'before the claim';
      const expected = isClaimed ? 'delivered' : isCopied ? ends.claim : ends.copy;
      const reached = !isCopied && movedTo ? movedTo(email) : email;
      const entry = recipients.find((one) => one.email === reached);
      assert.equal(entry?.status, expected, `${point}: ${JSON.stringify(entry)}`);
      assert.equal(entry.reason === null, expected === 'delivered', point);
      assert.equal(stepper.got.get(reached) ?? 0, expected === 'delivered' ? 1 : 0, point);
      assert.equal(counts.delivered, stepper.got.size, point);
      assert.ok(
        [...stepper.got.values()].every((times) => times === 1),
        point,
      );
      // The next point begins with the same audience.
      await ask('DELETE', `${contactsPath()}/${reached}`);
      await ask('DELETE', `${contactsPath()}/${moved(email)}`);
    }
  });
}

test('a clock that jumps at any step of a paced broadcast repeats and skips nobody', async () => {
  const { app, clock } = campaign.spool;
  const trueNow = clock.now;
  for (const jumpMs of [DAY_MS, -DAY_MS, 3_650 * DAY_MS, -30 * DAY_MS]) {
    for (const point of Object.keys(POINTS) as Point[]) {
      stepper.got.clear();
      const jump = async () => {
        clock.now = () => trueNow() + jumpMs;
      };
      const { status, counts } = await sendWith(point, jump, () => setBack(app, jumpMs));
      clock.now = trueNow;
      await setBack(app, -jumpMs);
      assert.deepEqual([status, counts.delivered], ['sent', CONTACTS], `${point}, ${jumpMs} ms`);
      assert.deepEqual(
        [...stepper.got.values()],
        Array.from({ length: CONTACTS }, () => 1),
      );
    }
  }
});

/** Does what the daemon does when it notices that the clock was set back. */
async function setBack({ db, clock }: App, jumpMs: number): Promise<void> {
  if (jumpMs > 0) return;
  await moveQueue(db, { now: clock.now(), setBackMs: -jumpMs });
  await moveTasks(db, { now: clock.now(), setBackMs: -jumpMs });
}

test('copies that crashed the daemon twice have their probes after a pause, which holds up no probe of other mail', async () => {
  const { spool } = campaign;
  const id = await start();
  await stepper.step();
  assert.deepEqual(await spool.crash('one', 'two'), [CONTACTS, CONTACTS]);
  assert.equal((await campaign.act(id, 'pause')).status, 200);
  const probes = createProbeWork(spool.app);
  assert.deepEqual((await probes.lease(1)).items, []);
  const other = await spool.accept('other@readers.example');
  await spool.crash('three', 'four');
  await spool.startProbe(probes);
  const [claimed, ...more] = await spool.claim();
  assert.deepEqual([claimed?.message.id, more.length], [other, 0]);
  if (claimed)
    await deliverBy(spool.app, claimed, async () => attemptWith(verdictForAll(claimed, DELIVERED)));
  assert.equal((await campaign.act(id, 'resume')).status, 200);
  let wakeups = 0;
  const stopListening = spool.app.wakeups.listen('suspects', () => wakeups++);
  await stepper.step();
  stopListening();
  assert.equal(wakeups, 1);
  for (let probe = 0; probe < CONTACTS; probe++) {
    await spool.startProbe(probes);
    await stepper.drain();
  }
  assert.deepEqual([stepper.got.size, (await campaign.show(id)).counts.delivered], [CONTACTS, CONTACTS]);
});

test('contacts that were created while the clock was ahead are part of a broadcast that starts later', async () => {
  const { clock } = campaign.spool;
  const trueNow = clock.now;
  clock.now = () => trueNow() + DAY_MS;
  const id = await campaign.addContact('early@readers.example');
  clock.now = trueNow;
  await start();
  await clock.advance(100);
  await stepper.drain();
  assert.equal(stepper.got.get('early@readers.example'), 1);
  await expectOk('DELETE', `${contactsPath()}/${id}`);
});

test('a topic and a template that are deleted while a broadcast is sent do not matter to it', async () => {
  const made = async (path: string, body: object) => (await ask('POST', path, body)).body.id as string;
  const topicId = await made('/topics', { name: 'News', defaultOptIn: true });
  const html = `<p>Of a template</p><a href="${TAG}">Unsubscribe</a>`;
  const templateId = await made('/templates', { name: 'News', subject: 'News', html });
  const id = await campaign.draft({ topicId, templateId, html: undefined });
  interrupt('broadcasts.storeSlice', () => expectOk('DELETE', `/templates/${templateId}`));
  interrupt('broadcasts.copy', () => expectOk('DELETE', `/topics/${topicId}`));
  assert.equal((await campaign.act(id, 'send')).status, 200);
  await stepper.drain();
  await campaign.spool.clock.advance(100);
  await stepper.drain();
  const { status, counts } = await campaign.show(id);
  assert.deepEqual([status, counts.delivered, stepper.got.size], ['sent', CONTACTS, CONTACTS]);
});

test('a topic that is made one for all after the start adds nobody to a broadcast', async () => {
  const topicId = (await ask('POST', '/topics', { name: 'For few', defaultOptIn: false })).body.id as string;
  const id = await campaign.draft({ topicId });
  assert.equal((await campaign.act(id, 'send')).status, 200);
  await expectOk('PATCH', `/topics/${topicId}`, { defaultOptIn: true });
  await stepper.drain();
  const { counts } = await campaign.show(id);
  assert.deepEqual([stepper.got.size, counts.optedOut], [0, CONTACTS]);
});

test('a reader who has not opted in to a topic gets no broadcast about it, also when it is deleted meanwhile', async () => {
  const name = { name: 'By choice', defaultOptIn: false };
  const topicId = (await ask('POST', '/topics', name)).body.id as string;
  const email = 'chooser@readers.example';
  const contact = await campaign.addContact(email, { topics: [{ id: topicId, subscription: 'opt_in' }] });
  const id = await campaign.draft({ topicId });
  assert.equal((await campaign.act(id, 'send')).status, 200);
  await expectOk('DELETE', `/topics/${topicId}`);
  await stepper.drain();
  const { counts } = await campaign.show(id);
  assert.deepEqual([[...stepper.got.keys()], counts.optedOut], [[email], CONTACTS]);
  await expectOk('DELETE', `${contactsPath()}/${contact}`);
});
