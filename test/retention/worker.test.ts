/**
 * Retention, on real emails whose recipients and times the tests set. Each test has a tenant of its own. The tests move
 * the one clock they share forward, so a test looks only at the mail that it has accepted itself.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Database } from 'better-sqlite3';
import { openWriting } from '../../src/db/connection.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { AttemptRow, EmailRow } from '../../src/db/email-tables.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { RecipientState } from '../../src/db/tables.ts';
import { emailSteps } from '../../src/emails/expire.ts';
import { createRetentionWork } from '../../src/retention/worker.ts';
import type { Clock } from '../../src/system/clock.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import { newId } from '../../src/system/ids.ts';
import { blobFiles, emailBody } from '../emails/fixtures.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createAllRetention } from '../support/retention.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

const CONTENT_DAYS = 30;
const EVENT_DAYS = 90;
const EMAIL_DAYS = 400;
/** The time before the first pass, and between two passes. */
const HOUR_MS = 3_600_000;
const MAX_SLICES = 1_000;
/** Number of attempts that the first slice of a pass visits (src/db/slice-size.ts). */
const FIRST_ROWS = 250;

let clock: FakeClock;
let test1: TestApp;
let side: Tx;
let sideDatabase: Database;

before(async () => {
  clock = createFakeClock(Date.parse('2026-03-01T12:00:00.000Z'));
  test1 = await openTestApp({ system: { clock } });
  sideDatabase = openWriting(join(test1.dataDir, 'postrider.db'), 'NORMAL');
  side = kyselyOn(sideDatabase);
});

after(async () => {
  sideDatabase.close();
  await test1.close();
});

type Mailer = { key: string; accept(more?: Record<string, unknown>): Promise<EmailRow['id']> };

let tenants = 0;
async function openTenant(): Promise<Mailer> {
  const { testKey: key } = await test1.addTenant(`tenant ${++tenants}`);
  return {
    key,
    async accept(more = {}) {
      const { status, body } = await test1.request('POST', '/v1/emails', { key, body: emailBody(more) });
      assert.equal(status, 200, JSON.stringify(body));
      return body.id;
    },
  };
}

/** Puts every recipient of an email into a state, as of this time. */
async function setState(id: string, state: RecipientState, at = clock.now()): Promise<void> {
  const dueAt = state === 'ready' || state === 'deferred' || state === 'in_flight' ? at : null;
  await side
    .updateTable('recipients')
    .set({ state, dueAt, runId: 'run' })
    .where('messageId', '=', id)
    .execute();
  await side.updateTable('messages').set({ lastEventAt: at }).where('id', '=', id).execute();
}

async function addAttempt(messageId: string, at: number): Promise<AttemptRow['id']> {
  const id = newId('att', at);
  const { id: recipientId, tenantId } = await side
    .selectFrom('recipients')
    .select(['id', 'tenantId'])
    .where('messageId', '=', messageId)
    .limit(1)
    .executeTakeFirstOrThrow();
  const row = { id, recipientId, messageId, tenantId, at, durationMs: 1, phase: 'data' };
  await side
    .insertInto('attempts')
    .values({ ...row, outcome: 'delivered' })
    .execute();
  return id;
}

const newWork = (more: Partial<Pick<Clock, 'now' | 'elapsed'>> = {}) => {
  const metrics = { counter: () => ({ inc: () => {} }) } as unknown as TestApp['app']['metrics'];
  const app = { ...test1.app, clock: { ...clock, ...more }, metrics };
  return createAllRetention(app);
};

/** Returns work whose first step deletes the content of emails. */
const newEmailWork = () => createRetentionWork(test1.app, emailSteps(test1.app));

/** Runs the slice that is due, if there is one, and returns the time until the next lease, in milliseconds. */
const lease = async (work: ReturnType<typeof newWork>) =>
  ((await work.lease(1)).nextDueAt ?? 0) - clock.now();

/** Runs one pass that begins at this time, slice by slice. */
async function runPass(at = clock.now() + HOUR_MS): Promise<void> {
  await moveTo(at - HOUR_MS);
  const work = newWork();
  await clock.advance(HOUR_MS);
  for (let slices = 0; slices < MAX_SLICES; slices++) {
    const waitMs = await lease(work);
    if (waitMs >= HOUR_MS) return;
    await clock.advance(waitMs);
  }
  assert.fail('the pass does not end');
}

/** Moves the clock to this time. */
const moveTo = (at: number) => clock.advance(at - clock.now());

const get = (key: string, id: string) => test1.request('GET', `/v1/emails/${id}`, { key });

async function countOf(table: 'attempts' | 'events', id: string): Promise<number> {
  const column = table === 'attempts' ? 'messageId' : 'emailId';
  const rows = await side
    .selectFrom(table as 'events')
    .select('id')
    .where(column as 'emailId', '=', id)
    .execute();
  return rows.length;
}

test('content is deleted 30 days after the last change, and not one millisecond before', async () => {
  const { key, accept } = await openTenant();
  const [old, young] = [await accept({ html: '<p>Hi</p>' }), await accept({ html: '<p>Hi</p>' })];
  const endedAt = clock.now() + DAY_MS;
  await setState(old, 'delivered', endedAt);
  await setState(young, 'delivered', endedAt + 1);
  const whole = (await get(key, old)).body;
  assert.deepEqual([whole.html, whole.text, whole.contentDeletedAt], ['<p>Hi</p>', 'Hello Bob', null]);
  const now = endedAt + CONTENT_DAYS * DAY_MS;
  await runPass(now);
  const { status, body } = await get(key, old);
  assert.equal(status, 200);
  const contentDeletedAt = new Date(now).toISOString();
  assert.deepEqual(body, { ...whole, html: null, text: null, contentDeletedAt });
  const kept = (await get(key, young)).body;
  assert.deepEqual([kept.html, kept.text, kept.contentDeletedAt], ['<p>Hi</p>', 'Hello Bob', null]);
  const contents = await side
    .selectFrom('messages')
    .leftJoin('contents', 'contents.id', 'messages.contentId')
    .select(['messages.id', 'contents.sizeBytes', 'messages.fields'])
    .where('messages.id', 'in', [old, young])
    .execute();
  const sizes = new Map(contents.map(({ id, sizeBytes, fields }) => [id, [sizeBytes, fields]]));
  assert.deepEqual(sizes.get(old), [null, null]);
  assert.ok(Number(sizes.get(young)?.[0]) > 0);
});

test('mail that is queued, scheduled, deferred, in flight or held keeps everything for ever', async () => {
  const { key, accept } = await openTenant();
  const ids: string[] = [];
  for (const state of ['ready', 'deferred', 'in_flight', 'held'] as const) {
    const id = await accept();
    await addAttempt(id, clock.now());
    await setState(id, state);
    ids.push(id);
  }
  ids.push(await accept({ scheduledAt: new Date(clock.now() + 29 * DAY_MS).toISOString() }));
  const half = await accept({ to: ['bob@rcpt.example', 'eve@rcpt.example'] });
  await setState(half, 'delivered');
  await side
    .updateTable('recipients')
    .set({ state: 'held' })
    .where('messageId', '=', half)
    .where('position', '=', 1)
    .execute();
  ids.push(half);
  const read = () => Promise.all(ids.map(async (id) => ({ ...(await get(key, id)).body })));
  const attempts = () => Promise.all(ids.map((id) => countOf('attempts', id)));
  const [whole, tried] = [await read(), await attempts()];
  await clock.advance(2 * EMAIL_DAYS * DAY_MS);
  await runPass();
  assert.deepEqual(await read(), whole);
  assert.deepEqual(await attempts(), tried);
  for (const id of ids) await setState(id, 'canceled');
});

test('the file of a large attachment is deleted with the content of its message', async () => {
  const { accept } = await openTenant();
  const before = blobFiles(test1).length;
  const content = Buffer.alloc(400_000, 1).toString('base64');
  const id = await accept({ attachments: [{ filename: 'a.bin', content }] });
  assert.equal(blobFiles(test1).length, before + 1);
  await setState(id, 'delivered');
  await clock.advance(CONTENT_DAYS * DAY_MS);
  await runPass();
  assert.equal(blobFiles(test1).length, before);
});

test('files that messages share are kept until the last of these messages has expired', async () => {
  const { accept } = await openTenant();
  const attachments = [{ filename: 'a.bin', content: Buffer.from('shared').toString('base64') }];
  const [sent, waiting] = [await accept({ attachments }), await accept()];
  const { blobId } = await side
    .selectFrom('messages')
    .select('blobId')
    .where('id', '=', sent)
    .executeTakeFirstOrThrow();
  assert.ok(blobId);
  await side.updateTable('messages').set({ blobId }).where('id', '=', waiting).execute();
  await setState(sent, 'delivered');
  await setState(waiting, 'held');
  const readBlob = () =>
    side.selectFrom('blobs').select(['sha256', 'data']).where('id', '=', blobId).executeTakeFirst();
  const whole = await readBlob();
  await clock.advance(EMAIL_DAYS * DAY_MS);
  await runPass();
  assert.deepEqual(await readBlob(), whole);
  await setState(waiting, 'delivered');
  await clock.advance(CONTENT_DAYS * DAY_MS);
  await runPass();
  assert.equal((await readBlob())?.sha256, '');
  await clock.advance(EMAIL_DAYS * DAY_MS);
  await runPass();
  assert.equal(await readBlob(), undefined);
});

test('attempts and events are deleted after 90 days, and not one millisecond before', async () => {
  const { key, accept } = await openTenant();
  const startMs = clock.now();
  const id = await accept();
  await setState(id, 'delivered');
  await addAttempt(id, startMs);
  const left = await addAttempt(id, startMs + 1);
  await clock.advance(1);
  const later = await accept();
  await setState(later, 'delivered');
  await runPass(startMs + EVENT_DAYS * DAY_MS);
  assert.deepEqual((await get(key, id)).body.events, []);
  assert.equal((await get(key, later)).body.events.length, 1);
  const attempts = await side.selectFrom('attempts').select('id').where('messageId', '=', id).execute();
  assert.deepEqual(attempts, [{ id: left }]);
});

test('an event that webhooks have not seen yet is kept', async () => {
  const { accept } = await openTenant();
  const id = await accept();
  await setState(id, 'delivered');
  await side.updateTable('events').set({ fannedOut: 0 }).where('emailId', '=', id).execute();
  await clock.advance(EVENT_DAYS * DAY_MS);
  await runPass();
  assert.equal(await countOf('events', id), 1);
  await side.updateTable('events').set({ fannedOut: 1 }).where('emailId', '=', id).execute();
  await runPass();
  assert.equal(await countOf('events', id), 0);
});

test('an email is deleted 400 days after its last change, and not one millisecond before', async () => {
  const { key, accept } = await openTenant();
  const more = { to: ['Bob@Rcpt.example', 'eve@rcpt.example'], tags: { kind: 'news', place: 'here' } };
  const [old, young] = [await accept(more), await accept(more)];
  const endedAt = clock.now() + DAY_MS;
  await setState(old, 'bounced', endedAt);
  await setState(young, 'bounced', endedAt + 1);
  await addAttempt(old, endedAt);
  await runPass(endedAt + EMAIL_DAYS * DAY_MS);
  assert.equal((await get(key, old)).status, 404);
  assert.equal((await get(key, young)).status, 200);
  const filters = ['', '?to=bob@rcpt.example', '?tag=kind:news', '?status=queued'];
  for (const filter of filters) {
    const list = await test1.request('GET', `/v1/emails${filter}`, { key });
    assert.deepEqual(
      list.body.data.map((email: { id: string }) => email.id),
      [young],
      filter,
    );
  }
  const left = await Promise.all([
    side.selectFrom('messages').select('id').where('id', '=', old).execute(),
    side.selectFrom('recipients').select('id').where('messageId', '=', old).execute(),
    side.selectFrom('emailAddresses').select('address').where('emailId', '=', old).execute(),
    side.selectFrom('emailTags').select('key').where('emailId', '=', old).execute(),
    side.selectFrom('attempts').select('id').where('messageId', '=', old).execute(),
    side.selectFrom('events').select('id').where('emailId', '=', old).execute(),
  ]);
  assert.deepEqual(left.flat(), []);
  const unnamed = await side
    .selectFrom('blobs')
    .leftJoin('messages', 'messages.blobId', 'blobs.id')
    .select('blobs.id')
    .where('messages.id', 'is', null)
    .execute();
  assert.deepEqual(unnamed, []);
});

test('a backlog is worked off in bounded slices, and a crash between two of them loses nothing', async () => {
  const { key, accept } = await openTenant();
  const id = await accept();
  await setState(id, 'delivered');
  const at = clock.now();
  for (let index = 0; index < 2 * FIRST_ROWS; index++) await addAttempt(id, at);
  await clock.advance(EVENT_DAYS * DAY_MS);
  const shown = (await get(key, id)).body;
  const interrupted = newWork();
  await clock.advance(HOUR_MS);
  let left = await countOf('attempts', id);
  const seen = new Set([left]);
  for (let slices = 0; left === 2 * FIRST_ROWS && slices < MAX_SLICES; slices++) {
    await clock.advance(await lease(interrupted));
    left = await countOf('attempts', id);
    seen.add(left);
  }
  assert.deepEqual([...seen], [2 * FIRST_ROWS, FIRST_ROWS]);
  await runPass();
  assert.equal(await countOf('attempts', id), 0);
  const { contentDeletedAt } = (await get(key, id)).body;
  const gone = { html: null, text: null, events: [], contentDeletedAt };
  assert.deepEqual((await get(key, id)).body, { ...shown, ...gone });
});

test('one write frees about a megabyte of content, however many emails have expired', async () => {
  const { key, accept } = await openTenant();
  const ids: string[] = [];
  // Random characters of base64 are packed into three quarters of their size: each is a little more than a megabyte.
  for (let index = 0; index < 5; index++)
    ids.push(await accept({ text: randomBytes(1_100_000).toString('base64') }));
  for (const id of ids) await setState(id, 'delivered');
  await clock.advance(CONTENT_DAYS * DAY_MS);
  const work = newEmailWork();
  await clock.advance(HOUR_MS);
  await work.lease(1);
  const cleared = async () =>
    (await Promise.all(ids.map(async (id) => (await get(key, id)).body.contentDeletedAt))).filter(
      (time) => time !== null,
    ).length;
  assert.equal(await cleared(), 1);
  await runPass();
  assert.equal(await cleared(), ids.length);
});

test('a pause follows each slice, and a pass begins an hour after the one before has ended', async () => {
  const { key, accept } = await openTenant();
  const id = await accept();
  await setState(id, 'delivered');
  const isCleared = async () => (await get(key, id)).body.contentDeletedAt !== null;
  await clock.advance(CONTENT_DAYS * DAY_MS);
  const work = newEmailWork();
  await clock.advance(HOUR_MS - 1);
  await work.lease(1);
  assert.equal(await isCleared(), false, 'nothing runs before it is due');
  await clock.advance(1);
  let waitMs = await lease(work);
  assert.equal(await isCleared(), true);
  assert.equal(waitMs, 20);
  for (let slices = 0; waitMs < HOUR_MS && slices < MAX_SLICES; slices++) {
    await clock.advance(waitMs);
    waitMs = await lease(work);
  }
  assert.equal(waitMs, HOUR_MS);
});

test('a wall clock that jumped ahead within the hour begins no pass', async () => {
  const { key, accept } = await openTenant();
  const id = await accept();
  await setState(id, 'delivered');
  let aheadMs = 0;
  const work = newWork({ now: () => clock.now() + aheadMs });
  await clock.advance(HOUR_MS);
  aheadMs = 10 * 365 * DAY_MS;
  await work.lease(1);
  assert.equal((await get(key, id)).body.contentDeletedAt, null);
  await clock.advance(HOUR_MS - 1);
  aheadMs = 0;
  for (let slices = 0; slices < 10; slices++) {
    await clock.advance(HOUR_MS);
    await work.lease(1);
  }
  assert.equal((await get(key, id)).body.contentDeletedAt, null);
});

test('a start with the clock 31 days ahead deletes no webhook deliveries', async () => {
  const { key, accept } = await openTenant();
  const endpoint = { url: 'https://hooks.example/in', events: ['email.delivered'] };
  const { body } = await test1.request('POST', '/v1/webhooks', { key, body: endpoint });
  const emailId = await accept();
  const [event] = await side.selectFrom('events').selectAll().where('emailId', '=', emailId).execute();
  assert.ok(event);
  const at = clock.now();
  for (const state of ['pending', 'delivered', 'failed', 'skipped'] as const) {
    const { id: eventId, tenantId } = event;
    const row = { id: newId('whd', at), endpointId: body.id, tenantId, eventId, state, attempts: 1 };
    await side
      .insertInto('webhookDeliveries')
      .values({ ...row, createdAt: at })
      .execute();
  }
  const states = async () =>
    (await side.selectFrom('webhookDeliveries').select('state').where('endpointId', '=', body.id).execute())
      .map(({ state }) => state)
      .sort();
  // The clock of the start is wrong, and NTP sets it right some minutes later.
  let aheadMs = 31 * DAY_MS;
  const work = newWork({ now: () => clock.now() + aheadMs });
  await clock.advance(10 * 60_000);
  await work.lease(1);
  aheadMs = 0;
  for (let slices = 0; slices < 10; slices++) {
    await clock.advance(HOUR_MS);
    await work.lease(1);
  }
  assert.deepEqual(await states(), ['delivered', 'failed', 'pending', 'skipped']);
  await runPass(at + 31 * DAY_MS);
  assert.deepEqual(await states(), ['pending'], 'only what still waits for its post is kept');
});

test('slow slices become smaller, quick ones grow again', async () => {
  const { accept } = await openTenant();
  const id = await accept();
  await setState(id, 'delivered');
  const at = clock.now();
  for (let index = 0; index < 4 * FIRST_ROWS; index++) await addAttempt(id, at);
  await clock.advance(EVENT_DAYS * DAY_MS);
  // The clock moves on while a slice runs: it is read once before and once after each of them.
  let tookMs = 0;
  let readings = 0;
  const work = newWork({ elapsed: () => clock.elapsed() + tookMs * readings++ });
  await clock.advance(HOUR_MS);
  const slices: number[] = [];
  let left = await countOf('attempts', id);
  for (let count = 0; left > 0 && count < MAX_SLICES; count++) {
    tookMs = slices.length < 2 ? 30 : 1;
    readings = 0;
    await clock.advance(60_000);
    await work.lease(1);
    const now = await countOf('attempts', id);
    if (now < left) slices.push(left - now);
    left = now;
  }
  const [first = 0, second = 0, third = 0, fourth = 0] = slices;
  assert.equal(first, FIRST_ROWS);
  assert.ok(second < first && third < second, `${slices}`);
  assert.ok(fourth > third, `${slices}`);
});

test('free pages are given back in slices once everything is deleted, and a part is kept for new mail', async () => {
  const { accept } = await openTenant();
  const free = () => Number(sideDatabase.pragma('freelist_count', { simple: true }));
  const pages = () => Number(sideDatabase.pragma('page_count', { simple: true }));
  const ids: string[] = [];
  // Random text cannot be packed.
  const text = () => randomBytes(100_000).toString('hex');
  for (let index = 0; index < 20; index++) ids.push(await accept({ text: text() }));
  for (const id of ids) await setState(id, 'delivered');
  const before = pages();
  await clock.advance(CONTENT_DAYS * DAY_MS);
  await runPass();
  assert.ok(pages() < before - 500, `${before} -> ${pages()} pages`);
  assert.ok(free() <= Math.ceil(pages() * 0.12), `${free()} of ${pages()} pages are free`);
  assert.ok(free() > 0);
});

test('mail of another tenant to the same address with the same tag stays, and is still found by both', async () => {
  const [one, other] = [await openTenant(), await openTenant()];
  const mail = { tags: { kind: 'receipt' }, html: '<p>Hi</p>' };
  const [expired, kept] = [await one.accept(mail), await other.accept(mail)];
  const endedAt = clock.now() + DAY_MS;
  await setState(expired, 'delivered', endedAt);
  await setState(kept, 'held');
  const before = (await get(other.key, kept)).body;
  await addAttempt(kept, endedAt);
  await runPass(endedAt + EMAIL_DAYS * DAY_MS);
  assert.equal((await get(one.key, expired)).status, 404);
  const after = (await get(other.key, kept)).body;
  assert.deepEqual([after.html, after.text, after.events], [before.html, before.text, before.events]);
  assert.equal(await countOf('attempts', kept), 1);
  const { to } = emailBody() as { to: string };
  for (const filter of [`to=${encodeURIComponent(to)}`, 'tag=kind:receipt']) {
    const { status, body } = await test1.request('GET', `/v1/emails?${filter}`, { key: other.key });
    assert.equal(status, 200, filter);
    assert.deepEqual(
      body.data.map(({ id }: { id: string }) => id),
      [kept],
      filter,
    );
  }
});
