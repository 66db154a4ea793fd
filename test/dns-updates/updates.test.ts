import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decode, encode } from 'dns-packet';
import { createControlServer } from '../../src/control-socket.ts';
import { readValues, writeUpdate } from '../../src/dns-updates/message.ts';
import { changesFirst, createDnsUpdates, setsOf } from '../../src/dns-updates/updates.ts';
import { addDomain } from '../domains/fixtures.ts';
import { openTestApp } from '../support/test-app.ts';

test('a restored installation that is not released asks and changes nothing, and says why', async () => {
  await using t = await openTestApp({
    env: {
      POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1',
      POSTRIDER_DNS_UPDATE_SERVER: '127.0.0.1:1',
      POSTRIDER_DNS_UPDATE_KEY: '/nonexistent/key',
      POSTRIDER_DNS_UPDATE_ZONES: 'postrider.example',
    },
  });
  const { run, hasName, publishText } = createDnsUpdates(t.app, []);
  assert.match((await run()).problem ?? '', /the key cannot be used/);
  t.app.egress.hold();
  const { problem, records } = await run();
  assert.match(problem ?? '', /restore release/);
  assert.match((await publishText('_acme-challenge.postrider.example', 'x')) ?? '', /restore release/);
  assert.deepEqual(['a.postrider.example', 'a.example'].map(hasName), [true, false]);
  assert.deepEqual(records, []);
});

test('an IPv6 address is the same in every spelling, so that what was written is found again', () => {
  const name = 'mx.postrider.example';
  const spelling = '2001:0DB8:0:0:0:0:0:1';
  const answers = [{ type: 'AAAA', name, ttl: 60, data: spelling } as const];
  const found = readValues(encode({ type: 'response', answers }), name, 'AAAA');
  const wanted = setsOf([{ name, type: 'AAAA', value: spelling }]).get(`AAAA ${name}`);
  assert.deepEqual(found, ['2001:db8::1']);
  assert.deepEqual(wanted?.values, found);
});

test('SRV records are read as they were written, those for a service that is not offered too', () => {
  const name = '_imaps._tcp.example.com';
  const values = ['0 0 0 .', '0 1 993 mx.postrider.example'];
  const update = {
    zone: 'example.com',
    expected: [],
    added: [{ name, type: 'SRV', values }],
    removed: [],
  } as const;
  const { authorities = [] } = decode(writeUpdate(update, 1));
  const response = encode({ type: 'response', answers: authorities });
  assert.deepEqual(readValues(response, name, 'SRV'), values);
});

test('a pass begins with what has changed since it was written', () => {
  const record = (name: string, value: string) => ({ name, type: 'TXT' as const, value });
  const wanted = setsOf([record('a', '1'), record('b', '2'), record('new', '3')]);
  const written = setsOf([record('a', '1'), record('b', '1'), record('gone', '3')]);
  assert.deepEqual(changesFirst(wanted, written), ['TXT b', 'TXT new', 'TXT gone', 'TXT a']);
});

test('the operator publishes a domain inside the zones alone, and only where updates are configured', async () => {
  for (const [env, message] of [
    [{}, /dynamic updates are off/],
    [
      {
        POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1',
        POSTRIDER_DNS_UPDATE_SERVER: '127.0.0.1:1',
        POSTRIDER_DNS_UPDATE_KEY: '/nonexistent/key',
        POSTRIDER_DNS_UPDATE_ZONES: 'postrider.example',
      },
      /in no zone of dns\.update\.zones \(postrider\.example\)/,
    ],
  ] as const) {
    await using t = await openTestApp({ env });
    const server = await createControlServer(t.app);
    const publish = (name: string) => server.inject({ method: 'POST', url: `/domains/${name}/publish` });
    await addDomain(t, { name: 'shop.example.net' });
    const refused = await publish('shop.example.net');
    assert.deepEqual([refused.statusCode, message.test(refused.body)], [400, true], refused.body);
    assert.equal((await publish('unknown.example')).statusCode, 404);
    await server.close();
  }
});
