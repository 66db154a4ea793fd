import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AppError } from '../../src/system/errors.ts';
import type { Log } from '../../src/system/log.ts';
import { eventTypes, openSpool, SENDER_DOMAIN } from '../support/spool.ts';

type Line = Record<string, unknown> & { level: string; message: string };

function recorder() {
  const lines: Line[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    lines.push({ level, message, ...fields });
  const [debug, info, warn, error, fatal] = ['debug', 'info', 'warn', 'error', 'fatal'].map(at);
  const log = { debug, info, warn, error, fatal, child: () => log } as unknown as Log;
  return { log, lines, take: () => lines.splice(0) };
}

const logged = recorder();
const spool = await openSpool({ system: { log: logged.log } });
const quiet = recorder();
const silenced = await openSpool({ system: { log: quiet.log }, env: { POSTRIDER_LOG_MAIL: 'false' } });
after(async () => {
  await spool.close();
  await silenced.close();
});
const SIMULATOR = 'simulator.mx.postrider.example';
const { tenantId } = spool;
const SIMULATED = { site: 'simulator', host: null, address: null, tls: null, durationMs: 0 };

test('an email is logged in one line when it is accepted and in one for each attempted recipient', async () => {
  logged.take();
  const to = [`delivered@${SIMULATOR}`, `delayed@${SIMULATOR}`, `bounced+x@${SIMULATOR}`];
  const emailId = await spool.accept(to, { subject: 'A secret plan', text: 'Meet me at noon' });
  const mail = { level: 'info', emailId, tenantId, mode: 'live' };
  const [accepted] = logged.take();
  assert.equal(accepted?.['sizeBytes'], 'Meet me at noon'.length);
  assert.deepEqual(
    { ...accepted, sizeBytes: 0 },
    {
      ...mail,
      message: 'mail accepted',
      from: `ada@${SENDER_DOMAIN}`,
      recipients: 3,
      sizeBytes: 0,
      scheduledAt: null,
    },
  );
  await spool.deliverDue();
  const lines = logged.take();
  const tried = { ...mail, ...SIMULATED, attempt: 1 };
  assert.deepEqual(lines, [
    {
      ...tried,
      message: 'mail delivered',
      to: to[0],
      code: 250,
      enhancedCode: '2.0.0',
      diagnostic: 'Simulated: accepted',
    },
    {
      ...{ ...tried, message: 'mail deferred', to: to[1], code: 451, enhancedCode: '4.7.1' },
      ...{ diagnostic: 'Simulated: try again later', nextAttemptAt: '2026-03-01T12:00:02.000Z' },
    },
    {
      ...tried,
      message: 'mail bounced',
      to: to[2],
      code: 550,
      enhancedCode: '5.1.1',
      diagnostic: 'Simulated: no such mailbox',
    },
  ]);
  assert.doesNotMatch(JSON.stringify([accepted, lines]), /secret plan|noon/);
});

test('mail that expires is logged as bounced', async () => {
  const emailId = await spool.accept('bob@nowhere.example');
  await spool.clock.advance(49 * 3_600_000);
  logged.take();
  await spool.deliverDue();
  const [line] = logged.take().filter((one) => one['emailId'] === emailId);
  assert.deepEqual([line?.message, line?.['enhancedCode']], ['mail bounced', '4.4.7']);
});

test('a batch is logged in one line for each accepted email, and a repeat of it in none', async () => {
  const email = {
    from: `ada@${SENDER_DOMAIN}`,
    to: 'bob@rcpt.example',
    subject: 's',
    text: 't',
    type: 'transactional',
  };
  const body = { emails: [email, { ...email, to: 'nobody' }, email] };
  const headers = { 'idempotency-key': 'batch' };
  logged.take();
  for (const expected of [2, 0]) {
    const answer = await spool.request('POST', '/v1/emails/batch', { key: spool.liveKey, body, headers });
    assert.equal(answer.status, 200);
    const lines = logged.take();
    assert.equal(lines.length, expected);
    const ids = answer.body.data.flatMap(({ id }: { id: string | null }) => id ?? []);
    if (expected > 0)
      assert.deepEqual(
        lines.map((line) => line['emailId']),
        ids,
      );
  }
});

test('an email that is refused in its transaction is not logged', async () => {
  const { db } = spool.app;
  const { commit } = db;
  logged.take();
  db.commit = () => Promise.reject(new AppError('unavailable', 'full'));
  try {
    const body = {
      from: `ada@${SENDER_DOMAIN}`,
      to: 'b@rcpt.example',
      subject: 's',
      text: 't',
      type: 'transactional',
    };
    assert.equal((await spool.request('POST', '/v1/emails', { key: spool.liveKey, body })).status, 503);
  } finally {
    db.commit = commit;
  }
  assert.deepEqual(
    logged.take().filter(({ message }) => message.startsWith('mail')),
    [],
  );
});

test('a domain that becomes verified, and one whose records lapse, are logged', async () => {
  const { body } = await spool.request('GET', '/v1/domains', { key: spool.liveKey });
  const [{ id: domainId }] = body.data;
  const verify = () => spool.request('POST', `/v1/domains/${domainId}/verify`, { key: spool.liveKey });
  const line = { level: 'info', domainId, tenantId, name: SENDER_DOMAIN };
  logged.take();
  assert.equal((await verify()).body.status, 'verified');
  assert.deepEqual(logged.take(), [], 'nothing has changed');
  spool.dns.setZone('');
  await verify();
  assert.deepEqual(logged.take(), [{ ...line, message: 'domain lapsed', status: 'temporary_failure' }]);
  await spool.clock.advance(1);
  await verify();
  assert.deepEqual(logged.take(), [], 'once');
  await spool.clock.advance(73 * 3_600_000);
  await verify();
  assert.deepEqual(logged.take(), [{ ...line, message: 'domain lapsed', status: 'failed' }]);
  spool.addZone('');
  await verify();
  assert.deepEqual(logged.take(), [{ ...line, message: 'domain verified', status: 'verified' }]);
});

test('log.mail: false turns the mail log off', async () => {
  quiet.take();
  const id = await silenced.accept(`delivered@${SIMULATOR}`);
  await silenced.deliverDue();
  assert.deepEqual(eventTypes(await silenced.email(id)).at(-1), 'email.delivered');
  assert.deepEqual(quiet.take(), []);
});
