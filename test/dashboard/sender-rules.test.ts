/** Choices about the mail of senders are rules of the mailbox. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '../../src/dashboard/mailbox/seen-rules.ts';
import { choicesIn, withChoice } from '../../src/dashboard/mailbox/sender-rules.ts';

const bills: Rule = { conditions: [{ field: 'subject', value: 'bill' }], fileInto: 'Bills' };

test('a choice becomes the first rule, replaces an earlier one for the same sender, and leaves all others as they are', () => {
  const never = withChoice([bills], { address: 'Ann@Shop.example', choice: 'never' }, 'Spam');
  assert.deepEqual(never, [
    {
      match: 'all',
      conditions: [{ field: 'from', operator: 'is', value: 'ann@shop.example' }],
      fileInto: 'INBOX',
      stop: true,
    },
    bills,
  ]);
  const always = withChoice(never, { address: 'ann@shop.example', choice: 'always' }, 'Spam');
  assert.deepEqual([always.length, always[0]?.fileInto, always[1]], [2, 'Spam', bills]);
  assert.deepEqual(choicesIn(always, 'Spam'), [{ address: 'ann@shop.example', choice: 'always' }]);
  assert.deepEqual(withChoice(always, { address: 'ANN@shop.example', choice: undefined }, 'Spam'), [bills]);
});

test('a rule that says anything more is no choice', () => {
  const condition = { field: 'from', operator: 'is', value: 'ann@shop.example' } as const;
  const rule: Rule = { conditions: [condition], fileInto: 'INBOX' };
  assert.equal(choicesIn([rule], null).length, 1);
  const others: Rule[] = [
    { ...rule, conditions: [{ ...condition, not: true }] },
    { ...rule, conditions: [condition, condition] },
    { ...rule, conditions: [{ ...condition, operator: 'contains' }] },
    { ...rule, conditions: [] },
    { ...rule, fileInto: 'Work' },
    { ...rule, star: true },
    { ...rule, markRead: true },
    { ...rule, forwardTo: 'ben@shop.example' },
    { ...rule, stop: false },
  ];
  assert.deepEqual(choicesIn(others, null), []);
});
