import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { test } from 'node:test';
import { errorCode, invalid, limitReached } from '../../src/system/errors.ts';

test('an issue says what is wrong without its path, the message as a whole sentence', () => {
  for (const [param, message, said] of [
    ['to[1]', '`to[1]` must be one address', 'must be one address'],
    ['name', '`name`: a.example belongs to this installation', 'a.example belongs to this installation'],
    ['html', '`html` is not a field; did you mean `html`?', 'is not a field; did you mean `html`?'],
    ['headers.X', 'The header `X` is reserved', 'The header `X` is reserved'],
    ['a.b', '`a` must have one of `b` and `c`', '`a` must have one of `b` and `c`'],
  ] as const) {
    const error = invalid(param, message);
    assert.equal(error.message, message);
    assert.deepEqual(error.options, { param, issues: [{ path: param, message: said }] });
  }
});

test('a refused limit says how many resources exist, and what the caller can do about it', () => {
  const { code, message, options } = limitReached('topics', 100);
  assert.deepEqual(
    [code, message, options],
    ['validation_error', 'You have 100 topics, which is the maximum; delete one before you add another', {}],
  );
  assert.equal(
    limitReached('unfinished imports', 10, 'try again when one has ended').message,
    'You have 10 unfinished imports, which is the maximum; try again when one has ended',
  );
});

test('a used-up quota has the code EDQUOT, which Node does not give it', () => {
  const errno = -constants.errno.EDQUOT;
  for (const code of ['UNKNOWN', `Unknown system error ${errno}`]) {
    assert.equal(errorCode(Object.assign(new Error('write'), { errno, code })), 'EDQUOT');
  }
  assert.equal(errorCode(Object.assign(new Error('write'), { errno: -1, code: 'EPERM' })), 'EPERM');
});
