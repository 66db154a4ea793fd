/** Mail with REQUIRETLS, sent to servers that do and do not meet what RFC 8689 section 4.2.1 asks. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import type { Hosts } from '../../support/loopback.ts';
import { openRoutedSpool } from '../routed-spool.ts';
import { startRequireTlsServers } from './require-tls-servers.ts';

const GOOD = '192.0.2.1';
const PLAIN = '192.0.2.2';
const WITHOUT = '192.0.2.3';
const HOUR_MS = 3_600_000;
const closing = closeAfterTests();
const hosts: Hosts = {};

const { good, plain, close, withoutPort } = await startRequireTlsServers();
Object.assign(hosts, { [GOOD]: good.port, [PLAIN]: plain.port, [WITHOUT]: withoutPort });
const spool = closing(await openRoutedSpool(hosts, 1));
after(() => close());

async function accept(to: string, requireTls: 0 | 1): Promise<string> {
  const id = await spool.accept(to);
  const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare('UPDATE messages SET requireTls = ? WHERE id = ?').run(requireTls, id);
  side.close();
  return id;
}

async function outcomeOf(id: string): Promise<string> {
  const { status, enhancedCode } = await spool.recipient(id);
  return `${status} ${enhancedCode}`;
}

/** Sends a message that requires TLS, and returns the status and the code of its recipient. */
async function send(to: string, requireTls: 0 | 1 = 1): Promise<string> {
  const id = await accept(to, requireTls);
  await spool.deliverDue();
  return outcomeOf(id);
}

test('it goes to a server that is the domain itself, proves its name and offers REQUIRETLS', async () => {
  spool.addZone(`good.example A ${GOOD}`);
  assert.match(await send('bob@good.example'), /^delivered /);
  const [message] = good.sessions.messages;
  assert.equal(message?.sender.requireTls, true);
  assert.ok(message?.client.tls);
  assert.match(await send('bob@good.example', 0), /^delivered /);
  assert.equal(good.sessions.messages.at(-1)?.sender.requireTls, false);
});

test('it fails at every other server, and not a byte of it is sent', async () => {
  const before = good.sessions.messages.length;
  spool.addZone(
    `plain.example A ${PLAIN}\nother.example A ${GOOD}\nmx.example MX 10 good.example\nwithout.example A ${WITHOUT}`,
  );
  for (const [to, outcome] of [
    ['bob@plain.example', 'bounced 5.7.10'],
    ['bob@other.example', 'bounced 5.7.10'],
    ['bob@mx.example', 'bounced 5.7.30'],
  ] as const)
    assert.equal(await send(to), outcome, to);
  assert.deepEqual([good.sessions.messages.length, plain.messages.length], [before, 0]);
});

test('a server with a valid certificate that does not take the requirement over is no way either', async () => {
  hosts[GOOD] = hosts[WITHOUT] ?? 0;
  spool.addZone(`good.example A ${GOOD}`);
  await spool.clock.advance(HOUR_MS);
  assert.equal(await send('eve@good.example'), 'bounced 5.7.30');
  hosts[GOOD] = good.port;
});

test('a host that cannot meet it is passed over, and other mail for the same site is not held up', async () => {
  const { length } = good.sessions.messages;
  await spool.clock.advance(HOUR_MS);
  assert.match(await send('bob@plain.example', 0), /^delivered /);
  assert.equal(await send('bob@plain.example'), 'bounced 5.7.10');
  assert.match(await send('ann@plain.example', 0), /^delivered /);
  spool.dns.setZone(`good.example A ${PLAIN}\ngood.example A ${GOOD}`);
  await spool.clock.advance(HOUR_MS);
  assert.match(await send('cleo@good.example'), /^delivered /);
  assert.equal(good.sessions.messages.length, length + 1);
});

test('a session that was opened for other mail does not carry it', async () => {
  hosts['192.0.2.9'] = good.port;
  spool.addZone('reused.example A 192.0.2.9');
  const { length } = good.sessions.messages;
  const ids = [await accept('ann@reused.example', 0), await accept('bob@reused.example', 1)];
  await spool.deliverDue();
  const [ordinary, required] = await Promise.all(ids.map(outcomeOf));
  assert.match(ordinary ?? '', /^delivered /);
  assert.equal(required, 'bounced 5.7.10');
  assert.equal(good.sessions.messages.length, length + 1);
});
