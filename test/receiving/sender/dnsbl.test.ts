import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Blocklists,
  createBlocklists,
  LISTING_TIMEOUT_MS,
  REASON_TIMEOUT_MS,
} from '../../../src/receiving/sender/dnsbl.ts';
import { createMetrics } from '../../../src/system/metrics.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { zoneDns } from '../../support/zone-dns.ts';

const NIBBLES = (text: string): string => [...text].reverse().join('.');
const UNLISTED_IPV6 = `1.0.0.0.0.0.f.7.f.f.f.f${'.0'.repeat(20)}`;
/** The point that every working list has (RFC 5782 section 5). */
const WORKS = (zone: string) => `2.0.0.127.${zone} A 127.0.0.2`;

type Zones = Parameters<typeof createBlocklists>[1];

function createWorld(zoneText: string, zones: Partial<Zones[number]>[] = [{}]) {
  const clock = createFakeClock(0);
  const { log, lines } = recordLog('warn');
  const dns = zoneDns(zoneText);
  const metrics = createMetrics(clock);
  const complete = zones.map(
    (zone) => ({ zone: 'bl.example', action: 'refuse', answers: ['127.0.0.0/8'], ...zone }) as const,
  );
  const lists: Blocklists = createBlocklists({ dns, clock, log, metrics }, complete);
  return { clock, lines, dns, metrics, lists };
}

test('a client is looked up by its reversed octets or nibbles, and the list gives its reason', async () => {
  const nibbles = NIBBLES('20010db8000100020003000405670089');
  const { lists, metrics } = createWorld(`
    ${WORKS('bl.example')}
    99.2.0.192.bl.example A 127.0.0.3
    99.2.0.192.bl.example TXT "spam, see https://bl.example/192.0.2.99"
    ${nibbles}.bl.example A 127.0.0.2`);
  assert.deepEqual(await lists.find('192.0.2.99'), [
    { zone: 'bl.example', action: 'refuse', text: 'spam, see https://bl.example/192.0.2.99' },
  ]);
  assert.deepEqual(await lists.find('2001:db8:1:2:3:4:567:89'), [
    { zone: 'bl.example', action: 'refuse', text: '' },
  ]);
  assert.deepEqual(await lists.find('192.0.2.98'), []);
  assert.deepEqual(await lists.find('not an address'), []);
  const { text } = await metrics.show();
  assert.match(text, /postrider_inbound_dnsbl_total\{zone="bl.example",result="listed"\} 2/);
  assert.match(text, /postrider_inbound_dnsbl_total\{zone="bl.example",result="clear"\} 1/);
});

test('only answers in 127.0.0.0/8 count, and errors of a list to its resolver never do', async () => {
  const listed = (address: string) => `${WORKS('bl.example')}\n1.2.0.192.bl.example A ${address}`;
  for (const [address, count] of [
    ['127.0.0.2', 1],
    ['127.0.1.255', 1],
    ['198.51.100.1', 0],
    ['128.0.0.1', 0],
    ['127.255.255.254', 0],
    ['127.255.255.0', 0],
  ] as const)
    assert.equal((await createWorld(listed(address)).lists.find('192.0.2.1')).length, count, address);
  const everything = createWorld(listed('198.51.100.1'), [{ answers: ['0.0.0.0/0'] }]);
  assert.deepEqual(await everything.lists.find('192.0.2.1'), []);
  const { lists, lines } = createWorld(listed('127.255.255.254'));
  for (let index = 0; index < 3; index++) await lists.find('192.0.2.1');
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.['zone'], 'bl.example');
});

test('of a zone that combines lists, the configured answers count', async () => {
  const { lists } = createWorld(
    `${WORKS('bl.example')}
    1.2.0.192.bl.example A 127.0.0.10
    2.2.0.192.bl.example A 127.0.0.10
    2.2.0.192.bl.example A 127.0.0.3`,
    [{ answers: ['127.0.0.2/31'], action: 'score' }],
  );
  assert.deepEqual(await lists.find('192.0.2.1'), []);
  assert.equal((await lists.find('192.0.2.2'))[0]?.action, 'score');
});

test('a list that has 127.0.0.1, in either form, has been given up and refuses nobody', async () => {
  for (const point of ['1.0.0.127', UNLISTED_IPV6]) {
    const dead = `${WORKS('bl.example')}\n1.2.0.192.bl.example A 127.0.0.2\n`;
    const { lists, lines, dns, clock } = createWorld(`${dead}${point}.bl.example A 127.0.0.2`);
    assert.deepEqual(await lists.find('192.0.2.1'), []);
    assert.match(String(lines[0]?.['reason']), /lists 127\.0\.0\.1/);
    dns.setZone(dead);
    assert.deepEqual(await lists.find('192.0.2.1'), []);
    await clock.advance(3_600_000);
    assert.equal((await lists.find('192.0.2.1')).length, 1);
  }
});

test('a list without 127.0.0.2 is reported, since it does not work', async () => {
  const { lists, lines } = createWorld('other.example A 192.0.2.1');
  assert.deepEqual(await lists.find('192.0.2.1'), []);
  assert.match(String(lines[0]?.['reason']), /does not list 127\.0\.0\.2/);
});

test('a list that fails or does not answer in time lists nobody, and the others count', async () => {
  const { lists, dns, metrics } = createWorld(
    `${WORKS('one.example')}\n${WORKS('two.example')}
    1.2.0.192.one.example A 127.0.0.2
    1.2.0.192.two.example A 127.0.0.2`,
    [{ zone: 'one.example' }, { zone: 'two.example' }],
  );
  assert.equal((await lists.find('192.0.2.1')).length, 2);
  dns.fail('1.2.0.192.one.example', 'ESERVFAIL');
  assert.deepEqual(
    (await lists.find('192.0.2.1')).map(({ zone }) => zone),
    ['two.example'],
  );
  assert.match((await metrics.show()).text, /zone="one.example",result="failed"\} 1/);
});

test('silent servers delay a client for a limited time', async () => {
  const clock = createFakeClock(0);
  const silent = () => new Promise<never>(() => {});
  const options = { clock, log: recordLog('warn').log, metrics: createMetrics(clock) };
  const zones = [{ zone: 'bl.example', action: 'refuse', answers: ['127.0.0.0/8'] } as const];
  const mute = createBlocklists({ ...options, dns: { a: silent, txt: silent } }, zones).find('192.0.2.1');
  await clock.advance(LISTING_TIMEOUT_MS);
  assert.deepEqual(await mute, []);
  const { a } = zoneDns(`${WORKS('bl.example')}\n1.2.0.192.bl.example A 127.0.0.2`);
  const unexplained = createBlocklists({ ...options, dns: { a, txt: silent } }, zones).find('192.0.2.1');
  // The lookups of the zone take some turns of the loop.
  await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(REASON_TIMEOUT_MS);
  assert.deepEqual(await unexplained, [{ zone: 'bl.example', action: 'refuse', text: '' }]);
});

test('a reason is one short line of printable ASCII', async () => {
  const { lists } = createWorld(
    `${WORKS('bl.example')}\n1.2.0.192.bl.example A 127.0.0.2\n1.2.0.192.bl.example TXT "a\\226\\128\\174\\013\\010b ü ${'x'.repeat(300)}"`,
  );
  const [listing] = await lists.find('192.0.2.1');
  assert.match(listing?.text ?? '', /^[ -~]{190,200}$/);
});
