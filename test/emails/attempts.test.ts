/** A tenant sees what was tried for its email, what servers said, and when it is tried again. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../src/db/connection.ts';
import type { TargetGuard } from '../../src/system/blocklist.ts';
import { closeAfterTests } from '../support/close-after.ts';
import { startCommandServer } from '../support/command-server.ts';
import { dialHosts, type Hosts } from '../support/loopback.ts';
import { openSpool } from '../support/spool.ts';

const closing = closeAfterTests();
const hosts: Hosts = {};
/** An address of the operator's own network, which tenants do not reach. */
const PRIVATE = 'fd00::5';
const targets: TargetGuard = {
  allows: (address) => address !== PRIVATE,
  keepAllowed: (_host, addresses) => [...addresses],
};
const spool = closing(await openSpool({ system: { dial: dialHosts(hosts), targets } }));
const server = closing(
  await startCommandServer((line) => {
    if (line.startsWith('EHLO')) return '250 mx.one.example';
    if (line.startsWith('RCPT TO:<gone')) return '550 5.1.1 No such user here';
    if (line.startsWith('RCPT')) return '451 4.7.1 Try again later';
    return '250 ok';
  }),
);
hosts['192.0.2.1'] = server.port;
spool.addZone('one.example MX 10 mx.one.example\nmx.one.example A 192.0.2.1');

const attemptsOf = (id: string, key = spool.liveKey) =>
  spool.request('GET', `/v1/emails/${id}/attempts`, { key });

test('the attempts have the reply of the server, and those that did not deliver what was said', async () => {
  const id = await spool.accept('gone@one.example', { subject: 'A secret', text: 'A secret' });
  assert.deepEqual((await attemptsOf(id)).body, { attempts: [], conversations: [] });
  await spool.deliverDue();
  const { status, body } = await attemptsOf(id);
  assert.equal(status, 200);
  const [{ at, durationMs, ...attempt }] = body.attempts;
  assert.deepEqual(attempt, {
    to: 'gone@one.example',
    outcome: 'bounced',
    phase: 'rcpt',
    mx: 'mx.one.example',
    address: '192.0.2.1',
    tls: null,
    reply: '550 5.1.1 No such user here',
  });
  assert.equal(at, new Date(spool.clock.now()).toISOString());
  assert.ok(durationMs >= 0);
  const [conversation] = body.conversations;
  assert.equal(conversation.at, at);
  const said = conversation.lines.map(
    (line: { direction: string; text: string }) => `${line.direction} ${line.text}`,
  );
  assert.ok(said.includes('sent RCPT TO:<gone@one.example>'), said.join('\n'));
  assert.ok(said.includes('received 550 5.1.1 No such user here'));
  assert.doesNotMatch(JSON.stringify(body), /secret/);
});

test('a deferred recipient shows the time of its next attempt, and a final one shows none', async () => {
  const id = await spool.accept(['later@one.example', 'gone2@one.example']);
  const [first] = (await spool.email(id)).recipients;
  assert.equal(first.nextAttemptAt, new Date(spool.clock.now()).toISOString());
  await spool.deliverDue();
  const [later, gone] = (await spool.email(id)).recipients;
  assert.equal(later.status, 'deferred');
  assert.ok(Date.parse(later.nextAttemptAt) > spool.clock.now());
  assert.deepEqual([gone.status, gone.nextAttemptAt], ['bounced', null]);
  await spool.cancel(id);
  assert.equal((await spool.email(id)).recipients[0].nextAttemptAt, null);
});

test('the attempts of an email of another tenant or mode are those of none', async () => {
  const id = await spool.accept('gone3@one.example');
  await spool.deliverDue();
  const other = await spool.addTenant('other');
  for (const key of [spool.testKey, other.liveKey]) {
    const { status, body } = await attemptsOf(id, key);
    assert.deepEqual([status, body.error.type], [404, 'not_found']);
  }
});

test("a relay in the operator's own network is not shown to tenants, and its reply is", async () => {
  const id = await spool.accept('gone4@one.example');
  await spool.deliverDue();
  const database = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  const relay = [PRIVATE, 'relay.corp.internal', id];
  database.prepare('UPDATE attempts SET address = ?, mx = ? WHERE messageId = ?').run(relay);
  database.close();
  const { body } = await attemptsOf(id);
  const [{ mx, address, tls, reply }] = body.attempts;
  assert.deepEqual([mx, address, tls, reply], [null, null, null, '550 5.1.1 No such user here']);
  assert.deepEqual(body.conversations, []);
});
