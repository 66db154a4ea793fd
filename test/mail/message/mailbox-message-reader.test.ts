import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readMailboxMessage } from '../../../src/mail/mailbox-message/read.ts';
import {
  createMailboxMessageReader,
  JOB_TIMEOUT_MS,
  SMALL_MESSAGE_BYTES,
} from '../../../src/mail/mailbox-message/reader.ts';
import { MessagesWaitError } from '../../../src/mail/message/parse/parser.ts';
import { countTurns } from '../../support/count-turns.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { SECTIONS } from './mime-corpus.ts';

const { log, lines: logged } = recordLog();
/** A message that a thread reads. */
const LARGE = Buffer.alloc(SMALL_MESSAGE_BYTES + 1, '\r\n');

test('a thread reads what is read without it, and leaves the octets to the caller', async () => {
  const reader = createMailboxMessageReader({ clock: createFakeClock(0), log });
  after(() => reader.close());
  const octets = Buffer.concat([Buffer.from(SECTIONS), Buffer.alloc(SMALL_MESSAGE_BYTES, 'x\r\n')]);
  const before = octets.toString();
  assert.deepEqual(await reader.read(octets, 'mbx_1'), await readMailboxMessage(octets));
  assert.equal(octets.toString(), before);
});

test('a message whose thread takes too long is opaque', async () => {
  const clock = createFakeClock(0);
  const reader = createMailboxMessageReader({ clock, log });
  after(() => reader.close());
  await reader.read(LARGE, 'mbx_1');
  logged.length = 0;
  const slow = `Subject: slow\r\nContent-Type: text/plain; charset=utf-7\r\n\r\n${'+AKk-'.repeat(1_000_000)}`;
  const result = reader.read(Buffer.from(slow), 'mbx_1');
  for (let turn = 0; turn < 2_000 && logged.length === 0; turn += 1) await clock.advance(JOB_TIMEOUT_MS);
  const message = await result;
  assert.equal(message.isOpaque, true);
  assert.match(message.envelope.ascii, /^\(NIL "slow"/);
  assert.deepEqual(
    [logged[0]?.['reason'], logged[0]?.msg],
    ['overran', 'a message for a mailbox could not be taken apart'],
  );
});

test('a reader that is closed says so, and does not call the message opaque', async () => {
  const closed = createMailboxMessageReader({ clock: createFakeClock(0), log });
  await closed.close();
  await assert.rejects(closed.read(LARGE, 'mbx_1'), MessagesWaitError);
});

test('a small message takes little time, however hostile it is', async () => {
  const reader = createMailboxMessageReader({ clock: createFakeClock(0), log });
  after(() => reader.close());
  const multipart = 'Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n';
  for (const [beginning, unit] of [
    ['From: ', ';&'],
    ['From: ', ",'"],
    ['Subject: ', 'é\t'],
    [multipart, ' \r\n--b'],
    [multipart, '<\r\n--b\r\n'],
    ['Content-Type: text/html; charset=cp850\r\n\r\n', '--<p>'],
    ['Content-Type: text/plain; charset=utf-7\r\n\r\n', '+AKk-'],
  ] as const) {
    const octets = Buffer.from(beginning + unit.repeat(SMALL_MESSAGE_BYTES)).subarray(0, SMALL_MESSAGE_BYTES);
    const start = process.threadCpuUsage();
    assert.equal((await reader.read(octets, 'mbx_1')).isOpaque, false);
    const { user, system } = process.threadCpuUsage(start);
    // Each takes at most 20 ms, the first time with the compilation of the code.
    assert.ok(user + system < 200_000, beginning + unit);
  }
});

test('other work runs between small messages that take long', async () => {
  let elapsedMs = 0;
  const clock = { ...createFakeClock(0), elapsed: () => (elapsedMs += 5) };
  const reader = createMailboxMessageReader({ clock, log });
  after(() => reader.close());
  const endCount = countTurns();
  for (let index = 0; index < 20; index++) await reader.read(Buffer.from('Subject: a\r\n\r\nb'), 'mbx_1');
  const turns = endCount();
  assert.ok(turns >= 19, `${turns}`);
});
