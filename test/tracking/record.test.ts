import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '../../src/db/operation.ts';
import type { EngagementRow } from '../../src/db/tracking-tables.ts';
import { DAY_MS } from '../../src/system/clock.ts';
import {
  CLASSIFICATION_DELAY_MS,
  type EngagementRequest,
  MAX_ROWS_PER_EMAIL,
  MAX_ROWS_PER_LINK,
  recordEngagements,
} from '../../src/tracking/engagements/record.ts';
import { openMemoryDatabase } from '../support/memory-database.ts';

const AT = Date.UTC(2026, 10, 23);
const click: EngagementRequest = {
  kind: 'click',
  emailId: 'em_1',
  link: 3,
  url: 'https://example.com/',
  at: AT,
  ip: '192.0.2.1',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  method: 'GET',
  isPrefetch: false,
};

const rowsOf = (tx: Tx): Promise<EngagementRow[]> =>
  tx.selectFrom('engagements').selectAll().orderBy('id').execute();

test('a click is stored with everything that its classification needs, and is due 15 s later', async () => {
  const { tx } = openMemoryDatabase();
  await recordEngagements.run(tx, [click]);
  const { method: _, ...stored } = click;
  assert.deepEqual(await rowsOf(tx), [
    {
      ...stored,
      id: 1,
      isHead: 0,
      isPrefetch: 0,
      requests: 1,
      dueAt: AT + CLASSIFICATION_DELAY_MS,
      verdict: null,
      reason: null,
      eventId: null,
    },
  ]);
});

test('repetitions by the same client are one row, with the signals of all of them', async () => {
  const { tx } = openMemoryDatabase();
  await recordEngagements.run(tx, [click]);
  await recordEngagements.run(tx, [{ ...click, at: AT + 1, method: 'HEAD' }]);
  await recordEngagements.run(tx, [{ ...click, at: AT + 2, isPrefetch: true }]);
  const [row, ...others] = await rowsOf(tx);
  assert.deepEqual(others, []);
  assert.equal(row?.requests, 3);
  assert.deepEqual([row?.at, row?.isHead, row?.isPrefetch], [AT, 1, 1]);
});

test('other clients, links, kinds and emails have rows of their own, and so has a client that was classified', async () => {
  const { tx } = openMemoryDatabase();
  const requests: EngagementRequest[] = [
    click,
    { ...click, ip: '192.0.2.2' },
    { ...click, userAgent: null },
    { ...click, link: 4 },
    { ...click, kind: 'open', link: null },
    { ...click, emailId: 'em_2' },
  ];
  await recordEngagements.run(tx, requests);
  assert.equal((await rowsOf(tx)).length, requests.length);
  await tx.updateTable('engagements').set({ dueAt: null, verdict: 'human' }).execute();
  await recordEngagements.run(tx, [{ ...click, at: AT + 60_000 }]);
  assert.equal((await rowsOf(tx)).length, requests.length + 1);
});

test('a client without address and user agent repeats itself too', async () => {
  const { tx } = openMemoryDatabase();
  const nameless = { ...click, ip: null, userAgent: '' };
  await recordEngagements.run(tx, [nameless]);
  await recordEngagements.run(tx, [nameless]);
  assert.deepEqual(
    (await rowsOf(tx)).map(({ requests, userAgent }) => ({ requests, userAgent })),
    [{ requests: 2, userAgent: null }],
  );
});

test('a scanner that fetches a link 10,000 times from many addresses occupies few rows, and all are counted', async () => {
  const { tx } = openMemoryDatabase();
  for (let index = 0; index < 10_000; index++) {
    await recordEngagements.run(tx, [{ ...click, ip: `2001:db8::${index.toString(16)}`, at: AT + index }]);
  }
  const rows = await rowsOf(tx);
  assert.equal(rows.length, MAX_ROWS_PER_LINK);
  assert.equal(
    rows.reduce((sum, { requests }) => sum + requests, 0),
    10_000,
  );
});

test('a person who follows the link a day after the machines is still recorded', async () => {
  const { tx } = openMemoryDatabase();
  for (let index = 0; index < 20; index++)
    await recordEngagements.run(tx, [{ ...click, ip: `198.51.100.${index}` }]);
  await recordEngagements.run(tx, [{ ...click, at: AT + DAY_MS }]);
  const rows = await rowsOf(tx);
  assert.equal(rows.length, MAX_ROWS_PER_LINK + 1);
  assert.equal(rows.at(-1)?.ip, click.ip);
});

test('an email with thousands of links is bounded as a whole, and recorded again a day later', async () => {
  const { tx } = openMemoryDatabase();
  for (let link = 0; link < MAX_ROWS_PER_EMAIL + 50; link++)
    await recordEngagements.run(tx, [{ ...click, link }]);
  assert.equal((await rowsOf(tx)).length, MAX_ROWS_PER_EMAIL);
  assert.equal((await rowsOf(tx)).at(-1)?.requests, 51);
  await recordEngagements.run(tx, [{ ...click, emailId: 'em_2' }]);
  await recordEngagements.run(tx, [{ ...click, link: 9_999, at: AT + DAY_MS }]);
  assert.equal((await rowsOf(tx)).length, MAX_ROWS_PER_EMAIL + 2);
});

test('a request beyond the limits does not make its signals those of another client', async () => {
  const { tx } = openMemoryDatabase();
  for (let index = 0; index < MAX_ROWS_PER_LINK; index++)
    await recordEngagements.run(tx, [{ ...click, ip: `198.51.100.${index}` }]);
  await recordEngagements.run(tx, [{ ...click, method: 'HEAD', isPrefetch: true }]);
  const rows = await rowsOf(tx);
  assert.ok(rows.every(({ isHead, isPrefetch }) => isHead === 0 && isPrefetch === 0));
  assert.equal(rows.at(-1)?.requests, 2);
});

test('a very long user agent and a very long link are cut off', async () => {
  const { tx } = openMemoryDatabase();
  await recordEngagements.run(tx, [{ ...click, userAgent: 'x'.repeat(16_000), url: 'y'.repeat(16_000) }]);
  const [row] = await rowsOf(tx);
  assert.deepEqual([row?.userAgent?.length, row?.url?.length], [512, 4_096]);
});
