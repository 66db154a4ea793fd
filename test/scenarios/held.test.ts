/** Mail that crashes the daemon, with real processes that end at a crash point as with kill -9. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { type DaemonProcess, DaemonStartError, startDaemonProcess } from '../support/daemon.ts';
import { newDataDirectory } from '../support/new-data-directory.ts';
import { waitUntil } from '../support/wait-until.ts';

const DELIVERED = 'delivered@simulator.localhost';
const CRASH_AT = 'claim-after-commit';

const dataDir = newDataDirectory();
let key: string | undefined;
let daemon: DaemonProcess | undefined;
after(() => daemon?.kill('SIGKILL'));

const email = (id: string) => ({
  ...{ from: 'hello@sandbox.localhost', to: DELIVERED, subject: id, text: 'Hi', type: 'transactional' },
});

/** Runs one start that ends with the first mail it claims. */
async function crash(use: (daemon: DaemonProcess) => Promise<unknown> = async () => {}): Promise<void> {
  try {
    daemon = await startDaemonProcess({ dataDir, crashAt: CRASH_AT });
    key ??= daemon.testKey;
    // The daemon may end before it answers.
    await use(daemon).catch(() => {});
    assert.equal((await daemon.exited).signal, 'SIGKILL');
  } catch (error) {
    // Recovered mail may reach the crash point before the daemon listens.
    if (!(error instanceof DaemonStartError) || error.exit?.signal !== 'SIGKILL') throw error;
  }
}

/** Changes the stored number of interruptions, so that not every crash takes a process. Returns the number before. */
function setInterruptions(count: number): unknown {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  try {
    const before = database.prepare('SELECT interruptedAttempts FROM recipients').pluck().get();
    database.prepare('UPDATE recipients SET interruptedAttempts = ?').run(count);
    return before;
  } finally {
    database.close();
  }
}

type Shown = { id: string; subject: string; status: string };

async function list(running: DaemonProcess, filter: string): Promise<Shown[]> {
  const { body } = await running.request('GET', `/v1/emails?${filter}`, key);
  return (body as { data: Shown[] }).data;
}

test('mail that has crashed the daemon five times is held at the next start, other mail is delivered, and an operator releases it', async () => {
  await crash((first) => first.request('POST', '/v1/emails', key, email('crashes')));
  await crash();
  assert.equal(setInterruptions(4), 1, 'a start counts the crash before it');
  const healthy = await startDaemonProcess({ dataDir });
  daemon = healthy;
  assert.deepEqual(
    (await list(healthy, 'recipientStatus=held')).map(({ subject, status }) => [subject, status]),
    [['crashes', 'sent']],
  );
  assert.match(healthy.output(), /"reason":"interrupted".*"mail held"/);
  await healthy.request('POST', '/v1/emails', key, email('another'));
  await waitUntil(
    async () => (await list(healthy, 'status=delivered')).length === 1,
    'the other email is delivered',
  );
  const held = (await healthy.cli(['queue', 'list'])) as { recipients: { emailId: string }[] };
  assert.deepEqual(await healthy.cli(['queue', 'release', held.recipients[0]?.emailId ?? '']), {
    released: 1,
  });
  await waitUntil(
    async () => (await list(healthy, 'status=delivered')).length === 2,
    'both emails are delivered',
  );
  // SIGTERM ends the process with 0.
  await healthy.stop();
});
