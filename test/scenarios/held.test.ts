/** Mail that crashes the daemon, with real processes that end at a crash point as with kill -9. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon.ts';
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
async function crash(): Promise<void> {
  daemon = await startDaemonProcess({ dataDir, crashAt: CRASH_AT });
  key = daemon.testKey;
  // The daemon may end before it answers.
  await daemon.request('POST', '/v1/emails', key, email('crashes')).catch(() => {});
  assert.equal((await daemon.exited).signal, 'SIGKILL');
}

/** Changes the stored number of interruptions, so that not every crash takes a process. */
function setInterruptions(count: number): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.prepare('UPDATE recipients SET interruptedAttempts = ?').run(count);
  database.close();
}

type Shown = { id: string; subject: string; status: string };

async function list(running: DaemonProcess, filter: string): Promise<Shown[]> {
  const { body } = await running.request('GET', `/v1/emails?${filter}`, key);
  return (body as { data: Shown[] }).data;
}

test('mail that has crashed the daemon five times is held at the next start, other mail is delivered, and an operator releases it', async () => {
  await crash();
  // The start counts the crash before it.
  setInterruptions(4);
  const healthy = await startDaemonProcess({ dataDir });
  daemon = healthy;
  const [held, ...others] = await list(healthy, 'recipientStatus=held');
  assert.deepEqual([held?.subject, held?.status, others], ['crashes', 'sent', []]);
  assert.match(healthy.output(), /"reason":"interrupted".*"mail held"/);
  await healthy.request('POST', '/v1/emails', key, email('another'));
  await waitUntil(
    async () => (await list(healthy, 'status=delivered')).length === 1,
    'the other email is delivered',
  );
  const released = await healthy.cli(['queue', 'release', held?.id ?? '']);
  assert.equal((released as { changed: number }).changed, 1);
  await waitUntil(
    async () => (await list(healthy, 'status=delivered')).length === 2,
    'both emails are delivered',
  );
  // SIGTERM ends the process with 0.
  await healthy.stop();
});
