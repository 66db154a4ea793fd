/** What the log keeps of many requests, and what it does when it cannot keep up. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { RequestLogRow } from '../../src/db/api-tables.ts';
import { RequestRecorder } from '../../src/request-log/recorder.ts';
import {
  appendRequests,
  expireRequests,
  MAX_KEPT_REQUESTS,
  packRequests,
} from '../../src/request-log/store.ts';
import { newId } from '../../src/system/ids.ts';
import { beginDeletion } from '../../src/tenant-control/delete.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { openTestApp } from '../support/test-app.ts';

const DAY_MS = 86_400_000;
const clock = createFakeClock(Date.UTC(2030, 0, 1));
const testApp = await openTestApp({ system: { clock } });
const { app } = testApp;
after(() => testApp.close());

type Owner = Pick<RequestLogRow, 'tenantId' | 'mode'>;

async function newOwner(name: string): Promise<Owner> {
  const { tenantId } = await testApp.addTenant(name);
  return { tenantId, mode: 'live' };
}

function rowOf(owner: Owner, at = clock.now()): RequestLogRow {
  return {
    ...owner,
    ...{ id: newId('req', at), keyId: newId('key', 0), method: 'GET', route: '/v1/plan', path: '/v1/plan' },
    ...{ status: 200, errorType: null, durationMs: 1, requestBytes: null, responseBytes: 2, address: '::1' },
  };
}

const rowsOf = (owner: Owner, count: number, at = clock.now()) =>
  Array.from({ length: count }, (_, index) => rowOf(owner, at + index));

async function stored({ tenantId, mode }: Owner): Promise<string[]> {
  const query = app.db.read.selectFrom('requestLog').select('id').where('tenantId', '=', tenantId);
  return (await query.where('mode', '=', mode).orderBy('id').execute()).map(({ id }) => id);
}

const append = (rows: readonly RequestLogRow[]) =>
  app.db.commit(appendRequests, { packed: packRequests(rows), trimmed: [] });

/** Returns a recorder whose writes wait until they are let through. */
function slowRecorder(disk = app.disk) {
  const gate = Promise.withResolvers<void>();
  const writes: number[] = [];
  const db = {
    ...app.db,
    commit: async (write: typeof appendRequests, input: { packed: string; trimmed: Owner[] }) => {
      writes.push(JSON.parse(input.packed).length);
      await gate.promise;
      return app.db.commit(write, input);
    },
  } as unknown as typeof app.db;
  return { recorder: new RequestRecorder({ ...app, db, disk }), letThrough: gate.resolve, writes };
}

const dropped = async () =>
  Number(/request_log_dropped_total (\d+)/.exec((await app.metrics.show()).text)?.[1] ?? 0);

test('requests are stored together, a second after the first of them', async () => {
  const owner = await newOwner('together');
  const { recorder, letThrough, writes } = slowRecorder();
  letThrough();
  for (const row of rowsOf(owner, 3)) recorder.record(row);
  await clock.advance(999);
  assert.deepEqual(writes, []);
  await clock.advance(1);
  await recorder.flush();
  assert.deepEqual(writes, [3]);
  assert.equal((await stored(owner)).length, 3);
});

test('while the writer is slow, memory holds a bounded number of requests, and one tenant half of them', async () => {
  const [busy, other] = [await newOwner('busy'), await newOwner('other')];
  const before = await dropped();
  const { recorder, letThrough } = slowRecorder();
  for (const row of rowsOf(busy, 1_000)) recorder.record(row);
  // The first thousand is being written. Two thousand more may wait.
  await Promise.resolve();
  for (const row of rowsOf(busy, 2_500, clock.now() + 10_000)) recorder.record(row);
  for (const row of rowsOf(other, 2_100)) recorder.record(row);
  letThrough();
  await recorder.flush();
  assert.deepEqual([(await stored(busy)).length, (await stored(other)).length], [3_000, 2_000]);
  assert.equal((await dropped()) - before, 600);
});

test('a flood of requests that a limit refuses leaves room for the others', async () => {
  const owner = await newOwner('flood');
  const { recorder, letThrough } = slowRecorder();
  letThrough();
  const row = rowOf(owner);
  const refused = (keyId = row.keyId) => ({ ...rowOf(owner), keyId, status: 429 });
  for (let count = 0; count < 100; count++) recorder.record(refused());
  recorder.record(refused(newId('key', 1)));
  recorder.record(row);
  await clock.advance(1_000);
  recorder.record(refused());
  await recorder.flush();
  assert.equal((await stored(owner)).length, 4);
});

test('nothing is written while the disk is below its reserve', async () => {
  const owner = await newOwner('full disk');
  const before = await dropped();
  const disk = { isBelowReserve: true } as typeof app.disk;
  const { recorder, letThrough, writes } = slowRecorder(disk);
  letThrough();
  recorder.record(rowOf(owner));
  await recorder.flush();
  assert.deepEqual([writes, (await dropped()) - before], [[], 1]);
});

test('a tenant keeps its newest requests up to a number, and those of another tenant stay', async () => {
  const [owner, other] = [await newOwner('many'), await newOwner('few')];
  const recorder = new RequestRecorder(app);
  recorder.record(rowOf(other));
  const rows = rowsOf(owner, MAX_KEPT_REQUESTS + 600);
  for (const [index, row] of rows.entries()) {
    recorder.record(row);
    if (index % 500 === 499) await recorder.flush();
  }
  await recorder.flush();
  const kept = await stored(owner);
  assert.ok(kept.length >= MAX_KEPT_REQUESTS && kept.length < MAX_KEPT_REQUESTS + 500, `${kept.length}`);
  assert.deepEqual(
    kept,
    rows.slice(-kept.length).map(({ id }) => id),
  );
  assert.equal((await stored(other)).length, 1);
});

test('retention deletes what is old, of one owner after another, in slices', async () => {
  const owners = [await newOwner('old one'), await newOwner('old two')];
  const [early, late] = [clock.now(), clock.now() + DAY_MS];
  for (const owner of owners) {
    const rows = [...rowsOf(owner, 5, early), rowOf(owner, late)];
    await append(rows);
  }
  const before = newId('req', late - 1);
  let after: string | undefined = '';
  let slices = 0;
  for (; after !== undefined; slices++) {
    assert.ok(slices < 100_000);
    const slice: { next: string | undefined; deleted: number } = await app.db.commit(expireRequests, {
      after,
      before,
      rows: 3,
    });
    assert.ok(slice.deleted <= 3);
    after = slice.next;
  }
  assert.ok(slices > 3);
  for (const owner of owners) assert.equal((await stored(owner)).length, 1);
});

test('a tenant that is being deleted gets no more rows, while others do', async () => {
  const [gone, other] = [await newOwner('gone'), await newOwner('stays')];
  await app.db.commit(beginDeletion, { tenant: gone.tenantId, now: clock.now() });
  await append([rowOf(gone), rowOf(other)]);
  assert.deepEqual([(await stored(gone)).length, (await stored(other)).length], [0, 1]);
});
