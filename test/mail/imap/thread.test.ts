import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { writeThreads } from '../../../src/mail/imap/encode/threads.ts';
import { type ThreadAlgorithm, threadMessages } from '../../../src/mail/imap/thread.ts';
import type { Thread, ThreadRow } from '../../../src/mail/imap/thread-row.ts';

type Message = {
  id?: string;
  references?: readonly string[];
  subject?: string;
  isReply?: boolean;
  /** The default is that each message is later than the one before. */
  at?: number;
};

function rowsOf(messages: readonly Message[]): ThreadRow[] {
  return messages.map(({ id = null, references = [], subject = '', isReply = false, at }, index) => ({
    number: index + 1,
    internalAt: at ?? index,
    keys: { baseSubject: subject, isReply, sent: null },
    thread: { messageId: id, references: [...references] },
  }));
}

const threads = (algorithm: ThreadAlgorithm, messages: readonly Message[]): string =>
  writeThreads(threadMessages(algorithm, rowsOf(messages)))
    .slice('* THREAD'.length, -2)
    .trim();
const byReferences = (...messages: Message[]) => threads('REFERENCES', messages);
const bySubject = (...messages: Message[]) => threads('ORDEREDSUBJECT', messages);

test('threads are written as chains and branches', () => {
  const leaf = (number: number | undefined, ...children: Thread[]): Thread => ({ number, children });
  const forked = leaf(3, leaf(6, leaf(4, leaf(23)), leaf(44, leaf(7, leaf(96)))));
  assert.equal(writeThreads([leaf(2), forked]), '* THREAD (2)(3 6 (4 23)(44 7 96))\r\n');
  assert.equal(writeThreads([leaf(undefined, leaf(3), leaf(5))]), '* THREAD ((3)(5))\r\n');
  assert.equal(writeThreads([]), '* THREAD\r\n');
});

test('ORDEREDSUBJECT: the first message with a subject has the others as children, and threads follow their first dates', () => {
  assert.equal(
    bySubject(
      { subject: 'b' },
      { subject: 'a' },
      { subject: 'b' },
      { subject: 'a', at: -1 },
      { subject: 'b' },
    ),
    '(4 2)(1 (3)(5))',
  );
  assert.equal(bySubject({}, {}), '(1 2)');
});

test('REFERENCES: a message answers the last of its references', () => {
  assert.equal(
    byReferences(
      { id: 'a' },
      { id: 'b', references: ['a'] },
      { id: 'c', references: ['a', 'b'] },
      { references: ['a'] },
    ),
    '(1 (2 3)(4))',
  );
});

test('REFERENCES: a parent that is not there joins its children, and is dropped where there is one', () => {
  assert.equal(byReferences({ references: ['x'] }, { references: ['x'] }), '((1)(2))');
  assert.equal(byReferences({ references: ['x', 'y'] }, { references: ['x'] }), '((1)(2))');
  assert.equal(byReferences({ references: ['x', 'y'] }), '(1)');
  assert.equal(
    byReferences({ id: 'a' }, { references: ['a', 'x'] }, { references: ['a', 'x'] }),
    '(1 (2)(3))',
  );
});

test('REFERENCES: orphans stay together after their parent was expunged', () => {
  const answers = [
    { id: 'b', references: ['a'] },
    { id: 'c', references: ['a'] },
    { references: ['a', 'c'] },
  ];
  assert.equal(byReferences({ id: 'a' }, ...answers), '(1 (2)(3 4))');
  assert.equal(byReferences(...answers), '((1)(2 3))');
});

test('REFERENCES: what a message says of its own parent wins, and nothing is its own ancestor', () => {
  assert.equal(byReferences({ references: ['a', 'b'] }, { id: 'a' }, { id: 'b' }), '(2)(3 1)');
  assert.equal(byReferences({ id: 'a', references: ['b'] }, { id: 'b', references: ['a'] }), '(2 1)');
  assert.equal(byReferences({ id: 'a', references: ['a'] }), '(1)');
  const [first, second] = [{ references: ['a', 'b'] }, { references: ['c', 'b'] }];
  assert.equal(byReferences({ id: 'a' }, { id: 'c' }, first, second), '(1 (3)(4))(2)');
});

test('REFERENCES: of messages with one Message-ID the first one has it', () => {
  assert.equal(byReferences({ id: 'a' }, { id: 'a' }, { references: ['a'] }), '(1 3)(2)');
});

test('REFERENCES: threads with the same base subject are joined', () => {
  const reply = { subject: 's', isReply: true };
  assert.equal(byReferences({ subject: 's' }, reply), '(1 2)');
  assert.equal(byReferences(reply, { subject: 's' }), '(2 1)');
  assert.equal(byReferences({ subject: 's', references: ['x'] }, reply), '(1 2)');
  assert.equal(byReferences({ subject: 's' }, { subject: 's' }), '((1)(2))');
  assert.equal(byReferences(reply, reply, reply), '((1)(2)(3))');
  assert.equal(byReferences({}, { isReply: true }), '(1)(2)');
  const pair = (id: string) => [1, 2].map(() => ({ references: [id], subject: 's' }));
  assert.equal(byReferences(...pair('x'), ...pair('y')), '((1)(2)(3)(4))');
  assert.equal(byReferences({ subject: 's' }, ...pair('x')), '((1)(2)(3))');
});

test('every message is in one thread, whatever its references say', () => {
  const ids = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const message = fc.record({
    id: ids,
    references: fc.array(ids, { maxLength: 4 }),
    subject: fc.constantFrom('', 's', 't'),
    isReply: fc.boolean(),
    at: fc.nat(5),
  });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
      for (const algorithm of ['REFERENCES', 'ORDEREDSUBJECT'] as const) {
        const numbers = threads(algorithm, messages).match(/\d+/g) ?? [];
        const sorted = numbers.map(Number).sort((one, other) => one - other);
        assert.deepEqual(
          sorted,
          messages.map((_, index) => index + 1),
        );
      }
    }),
  );
});

test('a thread of 20,000 answers in any order does not exhaust the stack', () => {
  const chain = Array.from({ length: 20_000 }, (_, index) => ({
    id: `${index}`,
    references: index > 0 ? [`${index - 1}`] : [],
  }));
  for (const messages of [chain, chain.toReversed()]) {
    const numbers = byReferences(...messages).split(' ');
    assert.equal(numbers.length, chain.length);
  }
});
