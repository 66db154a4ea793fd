/**
 * A flow through the pages of the operator: a backup is made, a daemon runs on a copy of its data, nothing leaves that daemon before the operator
 * has seen what would leave and releases it, and what leaves then leaves once.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import Sqlite from 'better-sqlite3';
import { temporaryDirectory } from '../support/daemon.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';
import { findViolations } from './browser.ts';
import type { Visitor } from './dashboard/visitor.ts';
import { openWorld, RECEIVER_DOMAIN } from './dashboard/world.ts';
import { until } from './until.ts';

const sink = await startSmtpSink({ keepRaw: true });
const receiver = await startWebhookReceiver();
after(() => Promise.all([sink.close(), receiver.close()]));
const world = await openWorld({ smtpPort: sink.port });
await world.addDomain('shop.example');

/** A port on which no mail server listens, so that mail waits. */
const NO_SERVER = { POSTRIDER_OUTBOUND_SMTP_PORT: '9' };
/** Number of times that a restored daemon is asked something before it counts as silent. Its work runs meanwhile. */
const QUIET_REQUESTS = 20;

world.flow(
  'a backup is restored elsewhere, the operator sees what would leave, and what is released leaves once',
  async (visitor) => {
    const { open, sees, submit, disclose, waitFor, hasScripts } = visitor;
    const key = await world.newKey();
    const send = async (subject: string) => {
      const to = [`ann@${RECEIVER_DOMAIN}`];
      const mail = { from: 'news@shop.example', to, subject, text: 'Hello', type: 'transactional' };
      return (await ask('POST', '/v1/emails', key, mail)).id;
    };
    const subjects = (['arrived', 'waited', 'later'] as const).map(
      (word) => `${word} ${hasScripts ? 'with' : 'without'} JavaScript`,
    ) as [string, string, string];
    const arrivals = () => subjects.map((subject) => sink.messages.filter(isAbout(subject)).length);

    await waitForDelivery(await send(subjects[0]), key);
    await world.replaceDaemon(world.daemon.dataDir, NO_SERVER);
    const waiting = await send(subjects[1]);
    await open('/operator/restoration');
    await sees('Nothing is held back');
    await look(visitor, 'not restored');

    await open('/operator/backups');
    await submit('Make a backup now');
    await waitFor(/Last backup since the start\s+succeeded/);
    await look(visitor, 'backups');

    const copy = join(temporaryDirectory('restored'), 'data');
    await world.daemon.cli(['backup', 'restore', '--to', copy]);
    makeMailDue(copy);
    await world.replaceDaemon(copy, { POSTRIDER_OUTBOUND_SMTP_PORT: String(sink.port) });
    const webhook = { url: receiver.url, events: ['email.queued', 'email.delivered'] };
    const { id: endpoint } = await ask('POST', '/v1/webhooks', key, webhook);
    const during = await send(subjects[2]);

    await open('/operator');
    await sees('This installation was restored');
    await look(visitor, 'health');
    await open('/operator/restoration');
    await waitFor(/Recipients whose mail leaves at once\s+2/);
    await sees('Nothing leaves it until it is released');
    for (let count = 0; count < QUIET_REQUESTS; count++)
      await world.daemon.request('GET', `/v1/emails/${during}`, key);
    assert.deepEqual([arrivals(), receiver.received.length], [[1, 0, 0], 0]);
    await open('/operator/queue');
    await look(visitor, 'queue');
    await open('/operator/restoration');
    await disclose('Release');
    await look(visitor, 'held back');
    await submit('Release');
    await sees('Released');
    await look(visitor, 'released');

    for (const id of [waiting, during]) await waitForDelivery(id, key);
    await until('the events are posted', async () => receiver.received.length >= 3);
    await open('/operator/restoration');
    await sees('Nothing is held back');
    assert.deepEqual(arrivals(), [1, 1, 1]);
    const posted = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.deepEqual([posted.length, new Set(posted).size], [3, 3]);
    await open('/operator/audit');
    await sees('Released the restored installation');
    receiver.received.length = 0;
    await ask('DELETE', `/v1/webhooks/${endpoint}`, key);
  },
);

/** Sends a request until the daemon takes it: on a busy machine it may refuse for a moment. */
async function ask(
  method: 'POST' | 'DELETE',
  path: string,
  key: string,
  body?: object,
): Promise<{ id: string }> {
  const answer = await until(`an answer to ${method} ${path}`, async () => {
    const response = await world.daemon.request(method, path, key, body);
    return response.status !== 503 && response;
  });
  assert.ok(answer.status < 300, JSON.stringify(answer.body));
  return answer.body as { id: string };
}

function isAbout(subject: string) {
  return ({ raw }: { raw: Buffer | undefined }) => `${raw}`.includes(`Subject: ${subject}\r\n`);
}

async function waitForDelivery(id: string, key: string): Promise<void> {
  await until('it is delivered', async () => {
    const { body } = await world.daemon.request('GET', `/v1/emails/${id}`, key);
    return (body as { status: string }).status === 'delivered';
  });
}

/** Keeps a picture of the page, and fails when axe finds something wrong with it. */
async function look({ page, hasScripts, takeScreenshot }: Visitor, name: string): Promise<void> {
  await takeScreenshot(`restored ${name} ${hasScripts ? 'with' : 'without'} JavaScript`);
  if (hasScripts) assert.deepEqual(await findViolations(page), []);
}

/** Makes mail due that waits for its next attempt. No daemon uses the database. */
function makeMailDue(dataDir: string): void {
  const database = new Sqlite(join(dataDir, 'postrider.db'));
  database.exec("UPDATE recipients SET dueAt = 1 WHERE state IN ('ready', 'deferred')");
  database.close();
}
