/** The operator's routes of backups: those that do not wait, and what they show of a backup that is made or verified. */
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ShownBackups } from '../../src/backups/admin-api.ts';
import { createBackups } from '../../src/backups/backups.ts';
import { createControlServer } from '../../src/control-socket.ts';
import { openTestApp } from '../support/test-app.ts';
import { waitUntil } from '../support/wait-until.ts';

const testApp = await openTestApp();
const server = await createControlServer(testApp.app);
after(async () => {
  await server.close();
  await testApp.close();
});

const post = (url: string) => server.inject({ method: 'POST', url });
const show = async (): Promise<ShownBackups> => (await server.inject({ url: '/backups' })).json();

/** Waits until nothing runs, and returns the backups. */
async function settled(): Promise<ShownBackups> {
  await waitUntil(async () => {
    const { made, verified } = await show();
    return made?.endedAt !== null && verified?.endedAt !== null;
  });
  return show();
}

test('a backup begins without anybody waiting, one at a time, and is in the list once it is complete', async () => {
  assert.partialDeepStrictEqual(await show(), { made: null, verified: null, copied: null, backups: [] });
  const begun = await post('/backups?wait=false');
  assert.equal(begun.json().made.endedAt, null);
  const second = await post('/backups?wait=false');
  assert.deepEqual([second.statusCode, second.json().error.type], [409, 'invalid_state']);
  const { made, backups, isEncrypted } = await settled();
  assert.deepEqual([made?.problems, isEncrypted], [[], false]);
  assert.deepEqual(
    backups.map(({ name }) => name),
    [made?.backup],
  );
  assert.ok((backups[0]?.bytes ?? 0) > 0);
});

test('a daemon that stops waits for a backup that is made, and not for ever', async () => {
  const backups = createBackups({ ...testApp.app, copyAccount: () => assert.fail('there is no mailbox') });
  backups.begin();
  await backups.stop(60_000);
  assert.deepEqual([backups.lastMade?.endedAt === null, backups.lastMade?.problems], [false, []]);
  const others = createBackups({ ...testApp.app, copyAccount: () => assert.fail('there is no mailbox') });
  others.begin();
  await others.stop(0);
  assert.equal(others.lastMade?.endedAt, null);
  await waitUntil(async () => others.lastMade?.endedAt !== null);
});

test('a backup is verified in a thread, and its damage is shown', async () => {
  const [backup] = (await show()).backups;
  assert.ok(backup);
  assert.equal((await post(`/backups/${backup.name}/verify`)).json().verified.endedAt, null);
  assert.equal((await post(`/backups/${backup.name}/verify`)).statusCode, 409);
  assert.partialDeepStrictEqual((await settled()).verified, {
    backup: backup.name,
    problems: [],
    isOpened: true,
  });
  appendFileSync(join(backup.path, 'master.key'), 'x');
  await post(`/backups/${backup.name}/verify`);
  assert.deepEqual((await settled()).verified?.problems, ['master.key: its bytes were changed']);
});

test('only a backup of the list is verified', async () => {
  for (const name of ['postrider-20200101T000000Z', '..%2F..%2Fetc'])
    assert.equal((await post(`/backups/${name}/verify`)).statusCode, 404, name);
});

test('what a restored installation keeps back is counted as far as the question asks', async () => {
  for (let count = 0; count < 3; count++) {
    const { status } = await testApp.request('POST', '/v1/emails', {
      body: {
        from: 'hello@sandbox.mx.postrider.example',
        to: ['delivered@simulator.mx.postrider.example'],
        subject: 'Kept back',
        text: 'Hello',
        type: 'transactional',
      },
    });
    assert.equal(status, 200);
  }
  const dueOf = async (url: string) => (await server.inject({ url })).json().mail.due;
  assert.equal(await dueOf('/restoration'), 3);
  assert.equal(await dueOf('/restoration?maximum=1'), 2);
});
