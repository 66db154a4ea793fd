/** The source of an email: the bytes that a server gets, whatever has become of the email since. */
import assert from 'node:assert/strict';
import { readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { expireContent } from '../../../src/emails/store.ts';
import { dialLoopback } from '../../support/loopback.ts';
import { recordLog } from '../../support/record-log.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { openSpool } from '../../support/spool.ts';

const FILE = { filename: 'data.bin', content: Buffer.alloc(400_000, 7).toString('base64') };
const { log, lines } = recordLog('error');
const sink = await startSmtpSink({ keepRaw: true });
const spool = await openSpool({
  smtpPort: sink.port,
  env: { POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8' },
  system: { dial: dialLoopback, log },
});
spool.addZone('rcpt.example A 127.0.0.1');
const stranger = await spool.addTenant('stranger');
const { liveKey, testKey } = spool;
after(async () => {
  await spool.close();
  await sink.close();
});

async function raw(id: string, { query = '', key = liveKey } = {}) {
  const headers = { authorization: `Bearer ${key}` };
  return spool.inject({ method: 'GET', url: `/v1/emails/${id}/raw${query}`, headers });
}

/** Returns the message that the sink got last, with the line break that ends it. */
const received = () => (sink.messages.at(-1)?.raw ?? assert.fail('nothing arrived')).toString('latin1');
const trimmed = (text: string) => text.replace(/(?:\r\n)*$/, '');

for (const [what, more] of [
  ['a text', {}],
  ['HTML with a generated text', { text: undefined, html: '<p>Grüße &amp; more</p>' }],
  ['HTML of a megabyte', { html: `<p>${'Text with words. '.repeat(60_000)}</p>` }],
  ['an attachment that is kept in a file', { attachments: [FILE] }],
] as const) {
  test(`${what} is shown in the bytes that a server gets, before and after it was delivered`, async () => {
    const id = await spool.accept('bob@rcpt.example', more);
    const before = await raw(id);
    assert.equal(before.statusCode, 200, before.body);
    await spool.deliverDue();
    assert.equal((await spool.recipient(id)).status, 'delivered');
    assert.equal(trimmed(before.rawPayload.toString('latin1')), trimmed(received()));
    assert.match(received(), /^DKIM-Signature: /);
    const { rawPayload, headers } = await raw(id);
    assert.equal(trimmed(rawPayload.toString('latin1')), trimmed(received()));
    assert.equal(Number(headers['content-length']), rawPayload.length);
    assert.equal(headers['content-type'], 'message/rfc822');
    assert.equal(headers['content-disposition'], `attachment; filename="${id}.eml"`);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  });
}

test('marketing mail is shown as one of its recipients gets it', async () => {
  const { body: topic } = await spool.request('POST', '/v1/topics', {
    key: liveKey,
    body: { name: 'News', defaultOptIn: true },
  });
  const html = '<a href="{{{unsubscribe_url}}}">Unsubscribe</a>';
  const marketing = { type: 'broadcast', topicId: topic.id, html };
  const id = await spool.accept(['Ann <ann@rcpt.example>', 'bob@rcpt.example'], marketing);
  const linkIn = (text: string) => /^List-Unsubscribe: <([^>]+)>/m.exec(text)?.[1];
  const [first, ann, bob] = [
    await raw(id),
    await raw(id, { query: '?recipient=ANN@rcpt.example' }),
    await raw(id, { query: '?recipient=bob@rcpt.example' }),
  ];
  assert.equal(first.body, ann.body);
  assert.ok(linkIn(ann.body) && linkIn(bob.body));
  assert.notEqual(linkIn(ann.body), linkIn(bob.body));
  const other = await raw(id, { query: '?recipient=eve@rcpt.example' });
  assert.deepEqual([other.statusCode, other.json().error.param], [400, 'recipient']);
});

test('mail of test keys has a source too', async () => {
  const from = 'Ada <ada@sandbox.mx.postrider.example>';
  const id = await spool.accept('delivered@simulator.mx.postrider.example', { key: testKey, from });
  const { statusCode, body } = await raw(id, { key: testKey });
  assert.equal(statusCode, 200);
  assert.match(body, /^Date: [\s\S]*\r\nFrom: Ada <ada@sandbox\.mx\.postrider\.example>\r\n/);
});

test('the mail of a domain whose keys are gone is shown without a signature', async () => {
  await spool.addDomain(liveKey, 'gone.example');
  const id = await spool.accept('bob@rcpt.example', { from: 'ada@gone.example' });
  await spool.deliverDue();
  const { body } = await spool.request('GET', '/v1/domains?name=gone.example', { key: liveKey });
  await spool.request('DELETE', `/v1/domains/${body.data[0].id}`, { key: liveKey });
  const db = new (await import('better-sqlite3')).default(join(spool.dataDir, 'postrider.db'));
  db.prepare('DELETE FROM domains WHERE id = ?').run(body.data[0].id);
  db.close();
  const shown = await raw(id);
  assert.equal(shown.statusCode, 200, shown.body);
  assert.match(shown.body, /^Date: /);
});

test('an email of another tenant or of the other mode is not found', async () => {
  const id = await spool.accept('bob@rcpt.example');
  for (const key of [testKey, stranger.liveKey, stranger.testKey])
    assert.equal((await raw(id, { key })).statusCode, 404);
});

/** Files of contents that are not in the database. */
function files(): string[] {
  return readdirSync(spool.dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
}

test('a source whose content is damaged or was deleted is refused, and damage is logged', async () => {
  const known = files();
  const other = { ...FILE, content: Buffer.alloc(400_000, 8).toString('base64') };
  const damaged = await spool.accept('bob@rcpt.example', { attachments: [other] });
  truncateSync(files().find((file) => !known.includes(file)) ?? assert.fail('no file'), 10);
  const answers = [await raw(damaged)];
  assert.deepEqual([lines.at(-1)?.msg, lines.at(-1)?.emailId], ['a stored message is damaged', damaged]);
  const ended = await spool.accept('bob@rcpt.example');
  await spool.deliverDue();
  assert.equal((await spool.recipient(ended)).status, 'delivered');
  await spool.clock.advance(1_000);
  const now = spool.clock.now();
  const expiry = { after: '', before: 'z', rows: 50, now, endedBy: now };
  for (let next: string | undefined = ''; next !== undefined; )
    next = (await spool.app.db.commit(expireContent, { ...expiry, after: next })).next;
  assert.notEqual((await spool.email(ended)).contentDeletedAt, null);
  answers.push(await raw(ended));
  for (const { statusCode, body } of answers)
    assert.deepEqual([statusCode, JSON.parse(body).error.type], [409, 'invalid_state'], body);
});
