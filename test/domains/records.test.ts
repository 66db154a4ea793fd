import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { optionalRecordsToPublish, recordsToPublish, returnPathName } from '../../src/domains/records.ts';
import { bounceLocalPart } from '../../src/queue/return-path.ts';
import { isHostName } from '../../src/system/dns.ts';
import { newId } from '../../src/system/ids.ts';
import { domainRow } from './fixtures.ts';

test('a tracking host comes after them, a CNAME to a host of ours', () => {
  const domain = domainRow('ten_a', { trackingSubdomain: 'links.example.com' });
  const records = recordsToPublish({ hostname: 'MX.Postrider.example' }, domain);
  assert.deepEqual(
    records.map(({ record }) => record),
    ['SPF', 'DKIM', 'DMARC', 'TRACKING'],
  );
  assert.deepEqual(records.at(-1), {
    record: 'TRACKING',
    type: 'CNAME',
    name: 'links.example.com',
    value: 'track.mx.postrider.example',
  });
});

test('every name in the records, the longest too, can be asked for', () => {
  const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(35)}.com`;
  const records = recordsToPublish({ hostname: 'mx.postrider.example' }, domainRow('ten_a', { name }));
  assert.deepEqual(
    records.map((record) => isHostName(record.name)),
    [true, true, true],
  );
  assert.ok(isHostName(records[1]?.value ?? ''));
});

const MX = {
  ...{ record: 'MX', purpose: 'inbound', type: 'MX' },
  ...{ name: 'example.com', value: 'mx.postrider.example', priority: 10 },
};

test('a return path longer than SMTP allows is not offered', () => {
  const token = bounceLocalPart(createSecretKey(Buffer.alloc(32)), {
    emailId: newId('em', 0),
    attemptedAt: 0,
  });
  const longest = `${'a.'.repeat(93)}com`;
  assert.equal(`<${token}@${returnPathName({ name: longest })}>`.length, 255);
  const atLimit = returnPathName({ name: `a${longest}` });
  assert.equal(`<${token}@${atLimit}>`.length, 256);
  assert.equal(returnPathName({ name: `aa${longest}` }), null);
  const name = `aa${longest}`;
  const optional = optionalRecordsToPublish({ hostname: 'mx.postrider.example' }, { name });
  assert.deepEqual(optional, [{ ...MX, name }]);
});
