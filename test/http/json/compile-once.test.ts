import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileOnce } from '../../../src/http/json/compile-once.ts';

test('a schema is compiled at its first use, and equal schemas are compiled once', () => {
  const compiled: object[] = [];
  const compiler = compileOnce((schema) => {
    compiled.push(schema);
    return { schema };
  });
  const text = compiler({ type: 'string' });
  const sameText = compiler({ type: 'string' });
  const number = compiler({ type: 'number' });
  assert.deepEqual(compiled, []);
  assert.equal(sameText(), text());
  assert.notEqual(number(), text());
  assert.deepEqual(compiled, [{ type: 'string' }, { type: 'number' }]);
});
