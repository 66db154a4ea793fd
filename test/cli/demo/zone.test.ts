import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createZone } from '../../../src/cli/demo/zone.ts';

const zone = createZone();
zone.publish([
  { type: 'MX', name: 'inbox.test', exchange: 'mx.inbox.test', preference: 10 },
  { type: 'A', name: 'mx.inbox.test', value: '127.0.0.1' },
  { type: 'CNAME', name: 's._domainkey.shop.test', value: 's.dkim.mail.test' },
  { type: 'TXT', name: 's.dkim.mail.test', value: 'v=DKIM1; p=x' },
  { type: 'CNAME', name: 'loop.test', value: 'loop.test' },
]);

test('answers what was published, whatever the case of the name', async () => {
  const exchange = [{ exchange: 'mx.inbox.test', preference: 10 }];
  assert.deepEqual(await zone.mx('INBOX.test.'), { kind: 'found', records: exchange, ttlMs: 60_000 });
  assert.deepEqual(await zone.a('mx.inbox.test'), { kind: 'found', records: ['127.0.0.1'], ttlMs: 60_000 });
});

test('follows an alias, except when asked for it', async () => {
  assert.deepEqual(await zone.txt('s._domainkey.shop.test'), {
    kind: 'found',
    records: ['v=DKIM1; p=x'],
    ttlMs: 60_000,
  });
  assert.deepEqual(await zone.cname('s._domainkey.shop.test'), {
    kind: 'found',
    records: ['s.dkim.mail.test'],
    ttlMs: 60_000,
  });
});

test('tells a name without such records from a name that does not exist', async () => {
  assert.deepEqual(await zone.aaaa('mx.inbox.test'), { kind: 'no-data', ttlMs: 60_000 });
  assert.deepEqual(await zone.a('_domainkey.shop.test'), { kind: 'no-data', ttlMs: 60_000 });
  assert.deepEqual(await zone.a('nowhere.test'), { kind: 'no-name' });
});

test('an alias of itself is a failure, not an endless search', async () => {
  assert.deepEqual(await zone.a('loop.test'), { kind: 'failed', reason: 'ESERVFAIL' });
});
