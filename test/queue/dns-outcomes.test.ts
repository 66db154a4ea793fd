/** Tests of mail whose outcome depends on what DNS says of its domain. One spool serves all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeAfterTests } from '../support/close-after.ts';
import type { Hosts } from '../support/loopback.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { openRoutedSpool } from './routed-spool.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const closing = closeAfterTests();
const hosts: Hosts = {};
const spool = closing(await openRoutedSpool(hosts));
const sink = closing(await startSmtpSink());

const OWN_ZONE = `
  literal.example   MX 10 192.0.2.77
  bare.example      TXT "no address"
  private.example   MX 10 mx.private.example
  mx.private.example A 10.0.0.1
`;

/** Delivers what becomes due in this time, and returns the recipient. */
async function recipientAfter(id: string, timeMs: number) {
  for (let passedMs = 0; passedMs < timeMs; passedMs += 10 * MINUTE_MS) {
    await spool.clock.advance(10 * MINUTE_MS);
    await spool.deliverDue();
  }
  return spool.recipient(id);
}

test('mail for an IP literal as MX, or for a domain without any address, ends within hours and says why', async () => {
  spool.addZone(OWN_ZONE);
  const said: Record<string, string> = {
    'literal.example': 'DNS: the MX records of literal.example must name hosts, and name "192.0.2.77"',
    'bare.example': 'DNS: bare.example: has no public address',
  };
  const ids = new Map<string, string>();
  for (const domain of Object.keys(said)) ids.set(domain, await spool.accept(`bob@${domain}`));
  await spool.deliverDue();
  const early = [...ids.values()].map((id) => recipientAfter(id, 0));
  for (const { status, enhancedCode } of await Promise.all(early))
    assert.deepEqual([status, enhancedCode], ['deferred', '4.4.4']);
  const [first] = ids.values();
  assert.equal((await recipientAfter(first ?? '', 3.5 * HOUR_MS)).status, 'deferred');
  await recipientAfter(first ?? '', 1.5 * HOUR_MS);
  for (const [domain, id] of ids) {
    const { status, enhancedCode, diagnostic, attempts } = await spool.recipient(id);
    assert.deepEqual([status, enhancedCode, diagnostic], ['bounced', '5.4.4', said[domain]]);
    assert.ok(attempts >= 4 && attempts <= 10, `${attempts} attempts`);
  }
});

test('mail that has waited for a day does not bounce when the addresses of its hosts vanish for a moment', async () => {
  const zone = 'moment.example MX 10 mx.moment.example\nmx.moment.example A 192.0.2.1';
  spool.dns.setZone(zone);
  const id = await spool.accept('bob@moment.example');
  await spool.deliverDue();
  const waiting = await recipientAfter(id, 24 * HOUR_MS);
  assert.match(waiting.diagnostic, /refused the connection/);
  spool.dns.setZone('moment.example MX 10 mx.moment.example');
  let attempts = waiting.attempts;
  while (attempts === waiting.attempts) attempts = (await recipientAfter(id, 10 * MINUTE_MS)).attempts;
  const { status, diagnostic } = await spool.recipient(id);
  assert.deepEqual([status, diagnostic], ['deferred', 'DNS: mx.moment.example: has no public address']);
  spool.dns.setZone(zone);
  hosts['192.0.2.1'] = sink.port;
  assert.equal((await recipientAfter(id, 5 * HOUR_MS)).status, 'delivered');
});

test('two domains with the same hosts in another order keep their own', async () => {
  spool.dns.setZone(`
    one.example MX 10 a.hosts.example
    one.example MX 20 b.hosts.example
    two.example MX 10 b.hosts.example
    two.example MX 20 a.hosts.example
    a.hosts.example A 192.0.2.2
    b.hosts.example A 192.0.2.3
  `);
  hosts['192.0.2.2'] = sink.port;
  hosts['192.0.2.3'] = sink.port;
  const ids = [await spool.accept('bob@one.example'), await spool.accept('bob@two.example')];
  await spool.deliverDue();
  const recipients = await Promise.all(ids.map((id) => spool.recipient(id)));
  assert.deepEqual(
    recipients.map(({ mx }) => mx),
    ['a.hosts.example', 'b.hosts.example'],
  );
});
