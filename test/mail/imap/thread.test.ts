import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { writeThreads } from '../../../src/mail/imap/encode/search.ts';
import {
  type Thread,
  type ThreadAlgorithm,
  type ThreadRow,
  threadMessages,
} from '../../../src/mail/imap/thread.ts';
import { finishSteps } from '../../../src/system/steps.ts';
import { countSteps } from '../../support/count-steps.ts';
import { threadPlainly } from './plain-threads.ts';

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
  finishSteps(writeThreads(finishSteps(threadMessages(algorithm, rowsOf(messages)))))
    .slice('* THREAD'.length, -2)
    .trim();
const byReferences = (...messages: Message[]) => threads('REFERENCES', messages);
const bySubject = (...messages: Message[]) => threads('ORDEREDSUBJECT', messages);

test('threads are written as chains and branches', () => {
  const leaf = (number: number | undefined, ...children: Thread[]): Thread => ({ number, children });
  const forked = leaf(3, leaf(6, leaf(4, leaf(23)), leaf(44, leaf(7, leaf(96)))));
  const written = (...roots: Thread[]): string => finishSteps(writeThreads(roots));
  assert.equal(written(leaf(2), forked), '* THREAD (2)(3 6 (4 23)(44 7 96))\r\n');
  assert.equal(written(leaf(undefined, leaf(3), leaf(5))), '* THREAD ((3)(5))\r\n');
  assert.equal(written(), '* THREAD\r\n');
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

/** Messages that refer to each other in every way, in any order, with dates that agree or not. */
function randomMessages(ids: number, maxLength: number): fc.Arbitrary<Message[]> {
  const id = fc.nat(ids - 1).map((number) => `${number}`);
  const message = fc.record({
    id,
    references: fc.array(id, { maxLength: 6 }),
    subject: fc.constantFrom('', '', 's', 't'),
    isReply: fc.boolean(),
    at: fc.nat(9),
  });
  return fc.array(message, { maxLength });
}

test('REFERENCES: the threads are those of the plain algorithm of RFC 5256, whatever the messages say', () => {
  for (const messages of [randomMessages(4, 12), randomMessages(12, 30), randomMessages(60, 90)])
    fc.assert(
      fc.property(messages, (given) => {
        const rows = rowsOf(given);
        assert.deepEqual(finishSteps(threadMessages('REFERENCES', rows)), threadPlainly(rows));
      }),
    );
});

const COUNT = 1_500;

/** Messages by which a stranger makes threads slow: each list takes the number of messages. */
const HOSTILE: Readonly<Record<string, (count: number) => Message[]>> = {
  'messages that have answers are put below the end of a long chain': (count) =>
    Array.from({ length: count }, (_, index) => {
      const third = Math.floor((3 * index) / count);
      if (third === 0) return { id: `c${index}`, references: [`c${index - 1}`] };
      const parent = `m${index % Math.ceil(count / 3)}`;
      return third === 1
        ? { references: [parent] }
        : { id: parent, references: [`c${Math.ceil(count / 3) - 1}`] };
    }),
  'all messages name one chain from another place': (count) =>
    Array.from({ length: count }, (_, index) => ({
      id: `m${index}`,
      references: Array.from({ length: 20 }, (_, place) => `m${(index * 13 + place * 97) % count}`),
    })),
  'a chain of messages stands in the wrong order': (count) =>
    Array.from({ length: count }, (_, index) => ({ id: `${index}`, references: [`${index + 1}`] })),
  'all messages have one subject and no references': (count) =>
    Array.from({ length: count }, (_, index) => ({ subject: 's', isReply: index % 2 === 0, at: -index })),
};

for (const [name, messagesOf] of Object.entries(HOSTILE))
  test(`REFERENCES: the time hardly grows faster than the mailbox when ${name}`, () => {
    const stepsOf = (count: number): number =>
      countSteps(threadMessages('REFERENCES', rowsOf(messagesOf(count)))).steps;
    const [some, more] = [stepsOf(COUNT), stepsOf(4 * COUNT)];
    assert.ok(some > 0, `${some}`);
    // Twelve steps out of four times as many messages would be quadratic, in steps of a thousand operations each.
    assert.ok(more <= 6 * some + 4, `${some} steps for ${COUNT} messages, ${more} for ${4 * COUNT}`);
  });
