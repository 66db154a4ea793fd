import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findBaseSubject, readSortKeys, readThreadKeys } from '../../../src/mail/message/sort-keys.ts';

test('the base subject is what RFC 5256 section 2.1 leaves', () => {
  for (const [subject, text, isReply] of [
    ['Hello', 'Hello', false],
    ['Re: Hello', 'Hello', true],
    ['RE:fw: FWD : hello', 'hello', true],
    ['Re[2]: Hello', 'Hello', true],
    ['Re [list] : Hello', 'Hello', true],
    ['[list] Re: [other] Hello (fwd)', 'Hello', true],
    ['[list] Hello', 'Hello', false],
    ['[one] [two]', '[two]', false],
    ['[list]', '[list]', false],
    ['Hello (fwd) (FWD) ', 'Hello', true],
    ['Re: [x] (fwd) (FWD)', '[x]', true],
    ['[Fwd: Hello]', 'Hello', true],
    ['[fwd: Re: [x] Hello (fwd)]', 'Hello', true],
    ['[Fwd: [Fwd: Hello]]', 'Hello', true],
    ['Re: ', '', true],
    ['Reply: Hello', 'Reply: Hello', false],
    ['Re Hello', 'Re Hello', false],
    [' a \t b\t', 'a b', false],
    ['=?utf-8?Q?Re=3A_Gr=C3=BC=C3=9Fe?=', 'Grüße', true],
    ['', '', false],
  ] as const)
    assert.deepEqual(findBaseSubject(subject), { text, isReply }, subject);
});

test('the base subject of a base subject is itself', () => {
  const pieces = fc.constantFrom('re:', 'Fwd:', '[x]', '[', ']', '(fwd)', '[fwd:', ' ', 'word', 're');
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (subject) => {
      const { text } = findBaseSubject(subject.join(''));
      assert.equal(findBaseSubject(text).text, text);
    }),
  );
});

test('the keys of a message are those of its first addresses, folded', () => {
  const keys = readSortKeys([
    { name: 'subject', value: 'Re: é' },
    { name: 'from', value: '=?utf-8?Q?J=C3=B6rg?= <joerg@x.example>, b@x' },
    { name: 'to', value: 'Team: a@x;' },
    { name: 'cc', value: 'Anna@x' },
    { name: 'date', value: '1 Jan 2025 00:00:00 +0000' },
  ]);
  assert.deepEqual(keys, {
    baseSubject: 'E\u0301',
    isReply: true,
    from: 'JOERG',
    to: 'TEAM',
    cc: 'ANNA',
    displayFrom: 'JO\u0308RG',
    displayTo: 'TEAM',
    sent: { at: Date.UTC(2025, 0, 1), day: '2025-01-01' },
  });
  assert.equal(readSortKeys([{ name: 'from', value: 'a@b' }]).displayFrom, 'A@B');
  assert.deepEqual(readSortKeys([]), {
    baseSubject: '',
    isReply: false,
    from: '',
    to: '',
    cc: '',
    displayFrom: '',
    displayTo: '',
    sent: null,
  });
});

test('references are ids without brackets and quotes, and In-Reply-To counts when there are none', () => {
  assert.deepEqual(
    readThreadKeys([
      { name: 'message-id', value: ' <"01KF8JCEOCBS0045PS"@xxx.example>' },
      { name: 'references', value: '<a@x> junk <b@x>\t<c d@x><e@x>' },
      { name: 'in-reply-to', value: '<f@x>' },
    ]),
    { messageId: '01KF8JCEOCBS0045PS@xxx.example', references: ['a@x', 'b@x', 'e@x'] },
  );
  assert.deepEqual(readThreadKeys([{ name: 'in-reply-to', value: 'yours of today <f@x> <g@x>' }]), {
    messageId: null,
    references: ['f@x'],
  });
  const many = readThreadKeys([{ name: 'references', value: '<a@x> '.repeat(1_001) }]);
  assert.equal(many.references.length, 1_000);
});
