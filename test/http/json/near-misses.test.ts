import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meantAmong, nearMissesOf } from '../../../src/http/json/near-misses.ts';

test('a body of very many fields has the known ones spelled out once, not once for each', () => {
  let reads = 0;
  const names = ['from', 'to', 'replyTo', 'templateId'];
  const known = new Proxy(names, {
    get(target, key, receiver) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  const given = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`field_${index}`, 1]));
  const findNearMisses = nearMissesOf(known);
  assert.deepEqual(findNearMisses({ ...given, to: 'x' }), []);
  assert.ok(reads <= 4 * names.length, `${reads} reads`);
  const misspelled = findNearMisses({ ...given, reply_to: 'x', template_id: 'x' });
  assert.deepEqual(
    misspelled.map(({ message }) => message),
    [
      '`reply_to` is not a field; did you mean `replyTo`?',
      '`template_id` is not a field; did you mean `templateId`?',
    ],
  );
});

test('a near miss differs from a known name only in case, dashes and underscores', () => {
  const meantBy = meantAmong(['replyTo', 'from']);
  assert.deepEqual(['reply_to', 'Reply-To', 'REPLYTO', 'replyTo', 'From', 'reply', ''].map(meantBy), [
    'replyTo',
    'replyTo',
    'replyTo',
    'replyTo',
    'from',
    undefined,
    undefined,
  ]);
});
