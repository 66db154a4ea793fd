import assert from 'node:assert/strict';
import { test } from 'node:test';
import { releaseClaims } from '../../src/queue/release.ts';
import { createLog } from '../../src/system/log.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { openSpool } from '../support/spool.ts';

const spool = closeAfterTests()(await openSpool());
const { clock } = spool;
/** Longer than all pauses between the attempts to write. */
const PATIENCE_MS = 3 * 60_000;

/** Returns the application with a database that refuses so many writes, and the number of those that it was asked for. */
function refusing(times: number) {
  let asked = 0;
  const { app } = spool;
  const commit: typeof app.db.commit = async (write, input) => {
    if (++asked <= times) throw new Error('The disk is full');
    return app.db.commit(write, input);
  };
  const db = { ...app.db, read: app.db.read, commit };
  return { app: { ...app, log: createLog('silent'), db }, asked: () => asked };
}

/** Lets time pass until the release has ended. */
async function waitFor(released: Promise<number>): Promise<number> {
  let count: number | undefined;
  void released.then((ended) => {
    count = ended;
  });
  for (let passedMs = 0; count === undefined && passedMs < PATIENCE_MS; passedMs += 1_000)
    await clock.advance(1_000);
  return released;
}

test('a patient release that cannot be written at first is written later, and the attempt stays counted', async () => {
  const id = await spool.accept(['a@rcpt.example', 'b@rcpt.example']);
  const claims = await spool.claim();
  const { app, asked } = refusing(3);
  const released = releaseClaims(app, claims, { isPatient: true });
  await clock.advance(0);
  assert.equal((await spool.recipient(id)).status, 'sent', 'it is still claimed');
  assert.equal(await waitFor(released), 2);
  assert.equal(asked(), 4);
  const { status, attempts } = await spool.recipient(id);
  assert.deepEqual([status, attempts], ['deferred', 1]);
  const again = await spool.claim();
  assert.deepEqual(
    again.flatMap(({ recipients }) => recipients.map((one) => one.attempts)),
    [2, 2],
    'both recipients are due again',
  );
  await releaseClaims(spool.app, again, { isPatient: false });
});

test('a patient release gives up after two minutes, and the mail stays claimed until its lease ends', async () => {
  const claims = await spool.claim();
  assert.ok(claims.length > 0);
  const { app, asked } = refusing(Number.POSITIVE_INFINITY);
  const begunAt = clock.elapsed();
  assert.equal(await waitFor(releaseClaims(app, claims, { isPatient: true })), 0);
  assert.equal(asked(), 8);
  const tookMs = clock.elapsed() - begunAt;
  assert.ok(tookMs > 110_000 && tookMs < 120_000, `${tookMs} ms`);
  assert.deepEqual(await spool.claim(), []);
  assert.ok((await releaseClaims(spool.app, claims, { isPatient: true })) > 0);
});

test('a release of a daemon that stops is tried once, so that the stop does not wait for it', async () => {
  const claims = await spool.claim();
  const { app, asked } = refusing(1);
  assert.equal(await releaseClaims(app, claims, { isPatient: false }), 0);
  assert.equal(asked(), 1);
  assert.ok((await releaseClaims(app, claims, { isPatient: false })) > 0);
});

test('nothing is written when nothing is released, and mail that has its outcome is left alone', async () => {
  const { app, asked } = refusing(0);
  assert.equal(await releaseClaims(app, [], { isPatient: true }), 0);
  assert.equal(asked(), 0);
  const claims = await spool.claim();
  assert.ok((await releaseClaims(app, claims, { isPatient: true })) > 0);
  assert.equal(
    await releaseClaims(app, claims, { isPatient: true }),
    0,
    'a second release finds nothing claimed',
  );
});
