/** A hard bounce puts its address on the list, and endpoints hear of it in the mode of the mail. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { explainReport } from '../../src/queue/outcome/explain.ts';
import type { FinalOutcome, Report } from '../../src/queue/outcome/outcome.ts';
import { packagedReplies } from '../../src/queue/outcome/replies/replies.ts';
import { settle } from '../../src/queue/settle.ts';
import { showSuppression } from '../../src/suppressions/show.ts';
import { getSuppression } from '../../src/suppressions/store.ts';
import { openSpool } from '../support/spool.ts';

const spool = await openSpool();
after(() => spool.close());

const REPORT: Report = {
  phase: 'rcpt',
  mx: 'mx.rcpt.example',
  address: '192.0.2.1',
  tls: null,
  smtpCode: 550,
  enhancedCode: '5.1.1',
  text: '550 5.1.1 no such user',
};

/** Ends the one delivery of an email with this outcome. */
async function end(to: string, outcome: FinalOutcome): Promise<string> {
  const messageId = await spool.accept(to);
  const { db, runId } = spool.app;
  const deliveries = await spool.claim();
  const delivery = deliveries.find(({ message }) => message.id === messageId);
  const results = (delivery?.recipients ?? []).map(({ id, attempts }) => ({
    ...{ recipientId: id, attempts, retryDelayMs: 1_000 },
    verdict: { outcome },
  }));
  assert.equal(results.length, 1);
  const ending = {
    messageId,
    site: 'test',
    runId,
    now: spool.clock.now(),
    durationMs: 1,
    signature: null,
    conversation: null,
    results,
  };
  await db.commit(settle, ending);
  return messageId;
}

async function suppressionEvents(address: string) {
  const rows = await spool.app.db.read
    .selectFrom('events')
    .select(['type', 'mode', 'tenantId', 'emailId', 'data'])
    .where('type', 'like', 'suppression.%')
    .execute();
  return rows
    .map(({ data, ...row }) => ({ ...row, data: JSON.parse(data) }))
    .filter(({ data }) => data.email === address);
}

const bounced = (report = REPORT): FinalOutcome => ({
  ...{ kind: 'bounced', report, meaning: explainReport(packagedReplies(), report) },
});

test('a hard bounce is a suppression.added of the record with its source', async () => {
  const emailId = await end('Gone@rcpt.example', bounced());
  const { tenantId, app } = spool;
  const row = await getSuppression(app.db.read, tenantId, 'gone@rcpt.example');
  assert.deepEqual(
    [row.reason, row.sourceEmailId, row.diagnostic],
    ['bounce', emailId, '550 5.1.1 no such user'],
  );
  assert.deepEqual(await suppressionEvents('gone@rcpt.example'), [
    { type: 'suppression.added', mode: 'live', tenantId, emailId: null, data: showSuppression(row) },
  ]);
});

test('the events of an email do not include those of the suppression list', async () => {
  const email = await spool.email(await end('quiet@rcpt.example', bounced()));
  const types = email.events.map(({ type }: { type: string }) => type);
  assert.deepEqual(
    types.filter((type: string) => !type.startsWith('email.')),
    [],
  );
});

test('a soft bounce and a simulated one say nothing of the list', async () => {
  await end('soft@rcpt.example', bounced({ ...REPORT, enhancedCode: '5.2.2' }));
  await end('simulated@rcpt.example', bounced({ ...REPORT, phase: 'simulated' }));
  for (const address of ['soft@rcpt.example', 'simulated@rcpt.example']) {
    assert.deepEqual(await suppressionEvents(address), []);
    const { db } = spool.app;
    await assert.rejects(getSuppression(db.read, spool.tenantId, address), /Suppression not found/);
  }
});

test('a hard bounce of an address that was put on the list meanwhile is no news', async () => {
  const messageId = await spool.accept('meanwhile@rcpt.example');
  const { db, runId } = spool.app;
  const [delivery] = (await spool.claim()).filter(({ message }) => message.id === messageId);
  const now = spool.clock.now();
  const { tenantId } = spool;
  const email = 'meanwhile@rcpt.example';
  assert.equal((await spool.request('POST', '/v1/suppressions', { body: { email } })).status, 201);
  const known = await suppressionEvents(email);
  const results = (delivery?.recipients ?? []).map(({ id, attempts }) => ({
    ...{ recipientId: id, attempts, retryDelayMs: 1_000 },
    verdict: { outcome: bounced() },
  }));
  const ending = { site: 'test', messageId, runId, now, durationMs: 1, signature: null, conversation: null };
  await db.commit(settle, { ...ending, results });
  assert.equal((await getSuppression(db.read, tenantId, email)).reason, 'bounce');
  assert.deepEqual(await suppressionEvents(email), known);
});
