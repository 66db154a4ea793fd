import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Section } from './table.ts';
import { unproven } from './unproven.ts';

const SECTION: Section = {
  title: 'Emails',
  statements: { 'are sent': 'emails/send.test.ts: an email: it is sent', 'are read': 'to come' },
};

/** Returns what the table lacks after a run that reported one test of `file`. */
function lacking(type: string, data: object, file = 'test/emails/send.test.ts'): string[] {
  const event = { type, data: { name: 'an email: it is sent', nesting: 0, ...data } };
  return unproven([{ file, events: [event] }], [SECTION]);
}

test('a statement is proved by a test of its name that passed', () => {
  assert.deepEqual(lacking('test:pass', {}), []);
});

for (const [what, type, data] of [
  ['failed', 'test:fail', {}],
  ['was skipped', 'test:pass', { skip: true }],
  ['is to do', 'test:pass', { todo: true }],
  ['has another name', 'test:pass', { name: 'an email' }],
  ['is part of another test', 'test:pass', { nesting: 1 }],
] as const) {
  test(`a test that ${what} proves nothing`, () => {
    assert.deepEqual(lacking(type, data), [
      'Emails: are sent\n    no test of test/emails/send.test.ts passed as "an email: it is sent"',
    ]);
  });
}

test('a file that was not run is not judged', () => {
  assert.deepEqual(lacking('test:pass', { name: 'another' }, 'test/emails/other.test.ts'), []);
});
