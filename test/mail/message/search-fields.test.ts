import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldText } from '../../../src/mail/message/fold.ts';
import { foldValues } from '../../../src/mail/message/search-fields.ts';

const finds = (value: string, text: string): boolean =>
  foldValues('from', [value]).some((one) => one.includes(foldText(text)));

const folded = (...texts: string[]): string[] => texts.map(foldText);

test('addresses are found as they stand, and as ENVELOPE shows them', () => {
  const value = '"Lee, \\"Ann\\"" <ann.lee (private) @ (home) test.example>';
  for (const text of ['lee, "ann"', 'ann.lee@test.example', '(home)', '\\"ann', 'lee@test'])
    assert.ok(finds(value, text), text);
  for (const text of ['lee, ann', 'ann.lee@home']) assert.ok(!finds(value, text), text);
  assert.ok(finds('=?utf-8?q?J=C3=B6rg?= <a@\tb.test>', 'jörg'));
  assert.ok(finds('=?utf-8?q?J=C3=B6rg?= <a@\tb.test>', 'a@b.test'));
  assert.ok(finds('a@b.test (Lee \\(Ann\\))', 'lee (ann)'));
  assert.ok(finds('"ann lee"@test.example', 'ann lee@test.example'));
  assert.ok(finds('"Team: one"', 'team: one'));
  assert.ok(finds('"all \\"staff\\"": a@x.test, b@y.test;', 'all "staff"'));
});

test('a domain in UTF-8 is also found in ASCII', () => {
  assert.ok(finds('ann@büro.example', 'ann@büro.example'));
  assert.ok(finds('ann@büro.example', 'ann@xn--bro-hoa.example'));
});

test('nothing is stored twice, and what an address lacks is not found', () => {
  assert.deepEqual(
    foldValues('to', ['Ann <ann@test.example>, b@test.example']),
    folded('ann <ann@test.example>, b@test.example'),
  );
  assert.deepEqual(foldValues('to', ['undisclosed', '<@>', '']), folded('undisclosed', '<@>', ''));
  assert.deepEqual(foldValues('subject', ['a (b) @ c']), folded('a (b) @ c'));
  assert.deepEqual(foldValues('cc', ['a @ b, a @ b']), folded('a @ b, a @ b', 'a@b'));
});

test('a field of very many addresses is not compared with each of them', () => {
  const value = Array.from({ length: 20_000 }, (_, index) => `u${index} @ x.test`).join(',');
  const texts = foldValues('to', [value]);
  assert.equal(texts.length, 2);
  assert.ok(texts[1]?.includes(foldText('u9999@x.test')));
  assert.ok(!finds(value, 'u1@x.testu2@x.test'));
});
