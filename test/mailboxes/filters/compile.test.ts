import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkScript } from '../../../src/mail/sieve/check.ts';
import { runScript } from '../../../src/mail/sieve/run-script.ts';
import { compileFilters } from '../../../src/mailboxes/filters/compile.ts';
import { type Filters, NO_FILTERS } from '../../../src/mailboxes/filters/filters.ts';
import { readFilters } from '../../../src/mailboxes/filters/read.ts';
import type { Rule } from '../../../src/mailboxes/filters/schemas.ts';
import { AppError } from '../../../src/system/errors.ts';

const NOW = Date.UTC(2026, 10, 26, 5);
const MESSAGE = [
  'From: "Bob \\"B\\" Lee" <bob@other.example>',
  'To: ann@people.example',
  'Cc: list@people.example',
  'Subject: Invoice *7?',
  'X-Tag: blue',
  '',
  'The body has a needle.',
  '',
].join('\r\n');

/** Returns what filters do with the message: kinds and targets of the actions. */
function actionsOf(filters: Partial<Filters>, now = NOW): string[] {
  const script = compileFilters(readFilters({ ...NO_FILTERS, ...filters }));
  if (script === null) return ['none'];
  const checked = checkScript(script);
  assert.ok(checked.kind === 'valid', script);
  const octets = Buffer.from(MESSAGE);
  const outcome = runScript(checked.script, {
    message: { octets, sizeBytes: octets.length },
    envelope: { from: 'bob@other.example', to: 'ann@people.example' },
    environment: {},
    now,
    zoneMinutes: 120,
    folders: undefined,
    duplicates: [],
    scripts: new Map(),
    spamPercent: undefined,
  });
  assert.ok(outcome.kind === 'done', JSON.stringify(outcome));
  return outcome.actions.map((action) => {
    switch (action.kind) {
      case 'keep':
        return ['keep', ...action.flags].join(' ');
      case 'fileinto':
        return [action.mailbox, ...action.flags].join(' ');
      case 'redirect':
        return `to ${action.address}`;
      default:
        return action.kind;
    }
  });
}

const applies = (rule: Partial<Rule>) =>
  actionsOf({ rules: [{ conditions: [], fileInto: 'Hit', ...rule }] })[0] === 'Hit';

test('a mailbox without filters has no script', () => {
  assert.deepEqual(actionsOf({}), ['none']);
  assert.deepEqual(actionsOf({ keepCopy: false }), ['none']);
});

test('mail is forwarded, and kept or not', () => {
  const forwardTo = ['carl@other.example', '<dora@other.example>'.slice(1, -1)];
  const rules = [{ conditions: [], fileInto: 'All' }];
  assert.deepEqual(actionsOf({ forwardTo }), ['to carl@other.example', 'to dora@other.example', 'keep']);
  assert.deepEqual(actionsOf({ forwardTo: ['carl@other.example'], rules }), ['to carl@other.example', 'All']);
  assert.deepEqual(actionsOf({ forwardTo: ['carl@other.example'], keepCopy: false, rules }), [
    'to carl@other.example',
  ]);
});

test('the automatic reply has a beginning and an end', () => {
  const replies = (from: string | null, until: string | null, now = NOW) =>
    actionsOf({ vacation: { from, until, text: 'Away' } }, now).includes('vacation');
  assert.equal(replies(null, null), true);
  assert.equal(replies('2026-11-26T05:00:00Z', null), true);
  assert.equal(replies('2026-11-26T07:00:01+02:00', null), false);
  assert.equal(replies(null, '2026-11-26T05:00:00Z'), false);
  assert.equal(replies('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'), true);
  assert.equal(replies('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z', Date.UTC(2026, 11, 1)), false);
});

test('a text is part of the script as it is, whatever it says', () => {
  const text = 'Away"; discard; \\"\r\n.\r\n"$' + '{x}" \u00e9';
  const script = compileFilters({ ...NO_FILTERS, vacation: { subject: '"; discard; #', text } }) ?? '';
  assert.deepEqual(actionsOf({ vacation: { subject: '"; discard; #', text } }), ['vacation', 'keep']);
  assert.ok(script.includes('Away\\"; discard;'));
  assert.equal(applies({ conditions: [{ field: 'subject', value: '") { discard; } #' }] }), false);
});

test('conditions compare a field of the message', () => {
  const hits: Rule['conditions'] = [
    { field: 'from', value: 'BOB@' },
    { field: 'from', value: 'Lee' },
    { field: 'from', operator: 'is', value: 'bob@OTHER.example' },
    { field: 'from', operator: 'endsWith', value: '@other.example>' },
    { field: 'to', value: 'list@people.example' },
    { field: 'subject', operator: 'startsWith', value: 'invoice *' },
    { field: 'subject', operator: 'endsWith', value: '*7?' },
    { field: 'subject', operator: 'is', value: 'Invoice *7?' },
    { field: 'header', header: 'X-Tag', operator: 'is', value: 'BLUE' },
    { field: 'body', value: 'needle' },
    { field: 'larger', value: '10' },
    { field: 'smaller', value: '10000' },
  ];
  for (const condition of hits) {
    assert.equal(applies({ conditions: [condition] }), true, JSON.stringify(condition));
    assert.equal(applies({ conditions: [{ ...condition, not: true }] }), false, JSON.stringify(condition));
  }
  assert.equal(
    applies({ conditions: [{ field: 'subject', operator: 'startsWith', value: 'in?oice' }] }),
    false,
  );
  const [first, second] = [hits[0], { field: 'subject', value: 'nothing' } as const];
  assert.ok(first);
  assert.equal(applies({ conditions: [first, second] }), false);
  assert.equal(applies({ match: 'any', conditions: [first, second] }), true);
});

test('rules act in their order, and one that applies is the last unless it says otherwise', () => {
  const one = { conditions: [], fileInto: 'One', markRead: true, star: true };
  const two = { conditions: [], fileInto: 'Two', forwardTo: 'carl@other.example' };
  assert.deepEqual(actionsOf({ rules: [one, two] }), ['One \\Seen \\Flagged']);
  assert.deepEqual(actionsOf({ rules: [{ ...one, stop: false }, two] }), [
    'One \\Seen \\Flagged',
    'to carl@other.example',
    'Two',
  ]);
  assert.deepEqual(actionsOf({ rules: [{ conditions: [], star: true }] }), ['keep \\Flagged']);
  assert.deepEqual(actionsOf({ rules: [{ conditions: [], discard: true }] }), []);
  assert.deepEqual(actionsOf({ rules: [{ conditions: [], forwardTo: 'carl@other.example' }] }), [
    'to carl@other.example',
    'keep',
  ]);
});

test('filters that cannot be followed are refused by the name of their field', () => {
  const refused: [Partial<Filters>, string][] = [
    [{ vacation: { from: 'tomorrow', text: 'Away' } }, 'vacation.from'],
    [
      { vacation: { from: '2026-12-01T00:00:00Z', until: '2026-11-01T00:00:00Z', text: 'A' } },
      'vacation.until',
    ],
    [{ vacation: { text: 'a\0b' } }, 'vacation.text'],
    [{ forwardTo: ['a b'] }, 'forwardTo[0]'],
    [{ forwardTo: ['Ann <ann@other.example>'] }, 'forwardTo[0]'],
    [
      {
        forwardTo: ['d', 'e'].map((name) => `${name}@other.example`),
        rules: ['a', 'b', 'c'].map((name) => ({ conditions: [], forwardTo: `${name}@other.example` })),
      },
      'forwardTo',
    ],
    [{ rules: [{ conditions: [{ field: 'larger', value: '10 MB' }] }] }, 'rules[0].conditions[0].value'],
    [{ rules: [{ conditions: [{ field: 'header', value: 'x' }] }] }, 'rules[0].conditions[0].header'],
    [
      {
        rules: Array.from({ length: 100 }, () => ({
          conditions: Array.from({ length: 20 }, () => ({
            field: 'subject' as const,
            value: 'a'.repeat(60),
          })),
        })),
      },
      'rules',
    ],
    [{ rules: [{ conditions: [], fileInto: 'a//b' }] }, 'rules[0].fileInto'],
    [{ rules: [{ conditions: [], fileInto: 'a', discard: true }] }, 'rules[0].discard'],
  ];
  for (const [filters, param] of refused)
    assert.throws(
      () => readFilters({ ...NO_FILTERS, ...filters }),
      (error: unknown) => error instanceof AppError && error.options.param === param,
      param,
    );
});
