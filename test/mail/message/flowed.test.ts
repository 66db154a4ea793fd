import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { unflow } from '../../../src/mail/message/part-text.ts';
import { read } from './parse/messages.ts';

for (const [what, text, joined, withDelSp] of [
  ['a paragraph', 'It is \nflowed.\nIt is not.', 'It is flowed.\nIt is not.', 'It isflowed.\nIt is not.'],
  ['a word in two lines', 'hyper \ntext', 'hyper text', 'hypertext'],
  [
    'an answer behind a quoted line that ends in a space',
    '> a long question \nYes.',
    '> a long question \nYes.',
    '> a long question\nYes.',
  ],
  [
    'quoted text',
    '> one \n> two\n>> three \n>>four\n>',
    '> one two\n>> three four\n>',
    '> onetwo\n>> threefour\n>',
  ],
  ['a quoted line behind an answer', 'See \n> this', 'See \n> this', 'See\n> this'],
  [
    'protected beginnings of lines',
    ' >no quote \n From here\n  indented',
    ' >no quote From here\n indented',
    ' >no quoteFrom here\n indented',
  ],
  ['a signature', 'Bye \n-- \nAnn \nLee', 'Bye \n-- \nAnn Lee', 'Bye\n-- \nAnnLee'],
  ['a quoted signature', '> Bye\n> -- \n> Ann', '> Bye\n> -- \n> Ann', '> Bye\n> -- \n> Ann'],
  ['empty lines', 'a \n\nb', 'a \nb', 'a\nb'],
] as const)
  test(`lines are joined as RFC 3676 says: ${what}`, () => {
    assert.equal(unflow(text, false), joined);
    assert.equal(unflow(text, true), withDelSp);
  });

test('text that is not flowed stays as it is', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,5}(?: [a-z]{1,5})*$/)), (lines) => {
      assert.equal(unflow(lines.join('\n'), false), lines.join('\n'));
    }),
  );
});

test('the parameters of the part decide', () => {
  const text = (parameters: string, body = 'a \r\nb') =>
    read(`Content-Type: text/plain${parameters}\r\n\r\n${body}`).text;
  assert.equal(text(''), 'a \nb');
  assert.equal(text('; format=flowed'), 'a b');
  assert.equal(text('; Format=Flowed; DelSp=YES'), 'ab');
  assert.equal(text('; format=fixed; delsp=yes'), 'a \nb');
  assert.equal(text('; format=flowed; charset=iso-2022-jp', '\x1b$BF|\x1b(B \r\n\x1b$BK\\\x1b(B'), '日 本');
  assert.equal(read('Content-Type: text/html; format=flowed\r\n\r\na \r\nb').html, 'a \nb');
});
