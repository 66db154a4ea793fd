import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { MessageChannel } from 'node:worker_threads';
import { DamagedBlobError } from '../../../src/blobs/damaged.ts';
import type { LocalAnswer, LocalMessage } from '../../../src/queue/local-receiver.ts';
import {
  createRemoteReceiver,
  type ReceiveCalls,
  receiveHanded,
} from '../../../src/queue/thread/local-mail.ts';
import { createPortCalls, servePortCalls } from '../../../src/system/thread/calls.ts';
import { closeAfterTests } from '../../support/close-after.ts';

const closing = closeAfterTests();

const TAKEN: LocalAnswer = { phase: 'dot', code: 250, status: '2.0.0', text: 'taken' };

/** Returns the receiver of one thread, whose mail crosses to the receiver of another. */
function across(receive: (message: LocalMessage) => Promise<readonly LocalAnswer[]>) {
  const { port1, port2 } = new MessageChannel();
  closing({ close: async () => port1.close() });
  servePortCalls(port1, { receive: receiveHanded(receive) });
  return createRemoteReceiver(createPortCalls<ReceiveCalls>(port2));
}

function messageOf(bytes: LocalMessage['bytes']): LocalMessage {
  const envelope = { sender: 'ann@one.example', recipients: ['bob@two.example'], requireTls: false };
  return {
    origin: { kind: 'tenant' },
    ...envelope,
    dsn: { message: null, recipients: [] },
    utf8: false,
    sizeBytes: 0,
    isEightBit: false,
    bytes,
  };
}

/** Yields pieces of the same memory, which must not cross as a whole. */
async function* slices(whole: Buffer, sizeBytes: number) {
  for (let at = 0; at < whole.length; at += sizeBytes) yield whole.subarray(at, at + sizeBytes);
}

test('a message arrives whole with its envelope, whatever its size, and the answer returns', async () => {
  for (const sizeBytes of [0, 1, 300, 256 * 1024, 1_000_000]) {
    const whole = Buffer.alloc(sizeBytes, 'octets of a message\r\n');
    const received: { envelope: unknown; bytes: Buffer }[] = [];
    const receive = across(async ({ bytes, ...envelope }) => {
      received.push({ envelope, bytes: await buffer(bytes()) });
      return [TAKEN];
    });
    const message = messageOf(() => slices(whole, 100_000));
    assert.deepEqual(await receive(message), [TAKEN]);
    const { bytes, ...envelope } = message;
    assert.deepEqual(received[0]?.envelope, envelope);
    assert.ok(received[0]?.bytes.equals(whole), `${sizeBytes} octets`);
  }
});

test('a receiver that refuses before the end closes the file of the message', async () => {
  let isClosed = false;
  async function* file() {
    try {
      for (;;) yield Buffer.alloc(100_000);
    } finally {
      isClosed = true;
    }
  }
  const full: LocalAnswer = { phase: 'rcpt', code: 452, status: '4.2.2', text: 'full' };
  assert.deepEqual(await across(async () => [full])(messageOf(file)), [full]);
  assert.equal(isClosed, true);
});

test('damage keeps its class, in the first piece and in a later one; an error of the receiver is its own', async () => {
  const damaged = new DamagedBlobError('blob', 'was changed');
  for (const goodBytes of [0, 600_000]) {
    async function* broken() {
      yield* slices(Buffer.alloc(goodBytes), 100_000);
      throw damaged;
    }
    const receive = across(async ({ bytes }) => {
      await buffer(bytes());
      return [TAKEN];
    });
    await assert.rejects(receive(messageOf(broken)), (error) => error === damaged);
  }
  const fails = across(() => Promise.reject(new Error('a bug of the receiver')));
  await assert.rejects(fails(messageOf(() => slices(Buffer.alloc(10), 10))), /a bug of the receiver/);
});
