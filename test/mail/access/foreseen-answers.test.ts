import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForeseenAnswers } from '../../../src/mail/access/foreseen-answers.ts';

const COMMAND_BYTES = 'RETR 1\r\n'.length;
const answersFor = (...numbers: number[]) =>
  numbers.map((number) => ({ command: `RETR ${number}\r\n`, answer: Buffer.from(`message ${number}`) }));

/** Returns answers in whose thread the client has sent one command, with a function that sends commands. */
function afterOneCommand() {
  const foreseen = new ForeseenAnswers();
  const take = (line: string, hasReadAll = true) => {
    const answer = foreseen.take(Buffer.from(`${line}\r\n`), hasReadAll);
    return answer && Buffer.from(answer).toString();
  };
  take('RETR 1');
  return { foreseen, take };
}

test('commands that are foreseen are answered in their order', () => {
  const { foreseen, take } = afterOneCommand();
  foreseen.add({ answers: answersFor(2, 3), madeAtBytes: COMMAND_BYTES });
  assert.equal(take('RETR 2'), 'message 2');
  foreseen.add({ answers: answersFor(4), madeAtBytes: COMMAND_BYTES });
  assert.equal(take('RETR 3'), 'message 3');
  assert.equal(take('RETR 4'), 'message 4');
  assert.equal(take('RETR 5'), undefined);
});

test('anything else ends what is foreseen, also answers that are still on their way', () => {
  const { foreseen, take } = afterOneCommand();
  const ahead = { answers: answersFor(2, 3), madeAtBytes: COMMAND_BYTES };
  foreseen.add(ahead);
  assert.equal(take('DELE 3'), undefined);
  assert.equal(take('RETR 2'), undefined);
  // These would be the next ones, and were made before message 3 was marked as deleted.
  foreseen.add({ answers: answersFor(3), madeAtBytes: COMMAND_BYTES });
  assert.equal(take('RETR 3'), undefined);
});

test('a command is answered only when it stands alone', () => {
  for (const octets of ['RETR 2\r\nNOOP', 'retr 2', 'RETR 2 ', 'RETR 20']) {
    const { foreseen, take } = afterOneCommand();
    foreseen.add({ answers: answersFor(2), madeAtBytes: COMMAND_BYTES });
    assert.equal(take(octets), undefined, octets);
  }
});

test('a client that does not read its answers gets no further ones', () => {
  const { foreseen, take } = afterOneCommand();
  foreseen.add({ answers: answersFor(2, 3), madeAtBytes: COMMAND_BYTES });
  assert.equal(take('RETR 2', false), undefined);
  assert.equal(take('RETR 3'), undefined);
});

test('answers to commands that have come already are dropped', () => {
  const { foreseen, take } = afterOneCommand();
  take('RETR 2');
  foreseen.add({ answers: answersFor(2, 3), madeAtBytes: COMMAND_BYTES });
  assert.equal(take('RETR 3'), undefined);
});
