import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SmtpConnection } from '../../../../src/mail/smtp/client/connection.ts';
import type { MessageContent } from '../../../../src/mail/smtp/client/envelope.ts';
import { sendContent } from '../../../../src/mail/smtp/client/message.ts';
import type { TransactionResult } from '../../../../src/mail/smtp/client/transaction.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { DISTINCT, envelope, inline, meet, send, settleSockets, summary } from './session-fixture.ts';

type Streamed = MessageContent & { pulled(): number; isClosed(): boolean };

function streamed(chunks: Iterable<string | Buffer>, sizeBytes?: number): Streamed {
  const buffers =
    typeof sizeBytes === 'number' ? chunks : [...chunks].map((chunk) => Buffer.from(chunk as string));
  let pulled = 0;
  let isClosed = false;
  return {
    sizeBytes: sizeBytes ?? Buffer.concat(buffers as Buffer[]).length,
    isEightBit: false,
    inline: undefined,
    async *chunks() {
      try {
        for (const chunk of buffers) {
          pulled += 1;
          yield Buffer.from(chunk as string);
        }
      } finally {
        isClosed = true;
      }
    },
    pulled: () => pulled,
    isClosed: () => isClosed,
  };
}

const LINE = `${'x'.repeat(76)}\r\n`;

test('a streamed message arrives byte for byte, wherever its chunks are cut', async (t) => {
  const { peer, session } = await meet(t);
  const part = fc.constantFrom(
    '.',
    '..',
    '.a',
    'text',
    '\r\n',
    '\r\n',
    '\r\n.',
    '\r\n.\r\n',
    'x'.repeat(70_000),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(200_000)), async (parts, cuts) => {
      const whole = Buffer.from(parts.join(''));
      const at = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
      const message = streamed(at.slice(1).map((end, index) => whole.subarray(at[index], end)));
      peer.messages.length = 0;
      const result = await send(session, envelope({ prefix: Buffer.alloc(0), message }));
      assert.deepEqual(summary(result), ['accepted 250']);
      const end = whole.length === 0 || whole.at(-1) === 0x0a ? '.\r\n' : '\r\n.\r\n';
      assert.deepEqual(peer.messages, [whole.toString('latin1').replace(/^\./gm, '..') + end]);
      assert.ok(message.isClosed());
    }),
    { numRuns: 60 },
  );
  const size = Buffer.byteLength(LINE) + envelope().prefix.length;
  await send(session, envelope({ message: streamed([LINE]) }));
  assert.match(peer.commands.at(-3) ?? '', new RegExp(` SIZE=${size}$`));
});

test('a stray CR or LF ends the connection before the dot, also across chunks', async (t) => {
  const cases = [
    ['body\n.\n', LINE],
    ['body\r', '.\r\n'],
    ['body', '\n.\r\n'],
    ['body\r\n', '\n'],
    ['body\r\n.\r', '\r\n'],
    ['body\r\n', '', '\r'],
    [LINE, LINE, 'body\r'],
  ];
  for (const chunks of cases) {
    const { peer, session } = await meet(t);
    const message = streamed(chunks);
    await assert.rejects(
      send(session, envelope({ message })),
      { name: 'MalformedMessageError' },
      JSON.stringify(chunks),
    );
    await waitUntil(() => peer.closedConnections() === 1);
    assert.deepEqual(peer.messages, []);
    assert.ok(message.isClosed());
  }
});

test('a message that is not as long as declared is not ended with a dot', async (t) => {
  for (const sizeBytes of [LINE.length * 3 - 1, LINE.length * 3 + 1, LINE.length]) {
    const { peer, session } = await meet(t);
    const message = streamed([LINE, LINE, LINE], sizeBytes);
    await assert.rejects(send(session, envelope({ message })), { name: 'MalformedMessageError' });
    assert.equal(message.pulled(), 3, 'it is read to its end');
    await waitUntil(() => peer.closedConnections() === 1);
    assert.deepEqual(peer.messages, []);
  }
  const { peer, session } = await meet(t);
  const message = { ...inline(LINE), sizeBytes: 1 };
  assert.deepEqual(summary(await send(session, envelope({ message }))), ['failed mail protocol']);
  assert.deepEqual(peer.commands, ['EHLO mail.example.com']);
});

test('chunks are read as the peer takes them, and given up when it takes no more', async (t) => {
  const clock = createFakeClock(0);
  const stalled = Promise.withResolvers<void>();
  const { session } = await meet(t, { stall: () => stalled.resolve() }, { timeouts: DISTINCT, clock });
  const chunk = LINE.repeat(1_000);
  const count = 200;
  const message = streamed(Array<string>(count).fill(chunk), chunk.length * count);
  let result: TransactionResult | undefined;
  const sending = send(session, envelope({ message })).then((done) => {
    result = done;
  });
  await stalled.promise;
  // The kernel's buffers take some of it; each block it takes starts the time anew.
  while (result === undefined) await clock.advance(DISTINCT.blockMs / 2);
  await sending;
  assert.deepEqual(summary(result), ['failed body timeout']);
  assert.ok(message.pulled() < count, `${message.pulled()} chunks`);
  assert.ok(message.isClosed());
});

test('a peer that refuses or goes in the middle of a streamed message stops the reading', async (t) => {
  for (const [answer, expected] of [
    ['552 5.3.4 too big\r\n', 'refused body 552'],
    ['close', 'failed body connection'],
    ['what?\r\n', 'failed body protocol'],
  ] as const) {
    const { peer, session } = await meet(t, {
      stall: (socket) => void (answer === 'close' ? socket.resetAndDestroy() : socket.write(answer)),
    });
    const message = streamed(Array<string>(200).fill(LINE.repeat(1_000)), LINE.length * 200_000);
    const result = await send(session, envelope({ message }));
    assert.deepEqual(summary(result), [expected]);
    assert.equal(result.usable, false);
    assert.ok(message.pulled() < 200);
    assert.ok(message.isClosed());
    assert.deepEqual(peer.messages, []);
  }
});

test('a peer that answers while the last chunk is awaited does not get the dot', async (t) => {
  for (const [answer, expected] of [
    ['250 2.0.0 taken\r\n', 'failed body protocol'],
    ['552 5.3.4 too big\r\n', 'refused body 552'],
  ] as const) {
    const { peer, session } = await meet(t);
    const message: MessageContent = {
      ...streamed([LINE]),
      async *chunks() {
        yield Buffer.from(LINE);
        peer.say(answer);
        await settleSockets();
      },
    };
    assert.deepEqual(summary(await send(session, envelope({ message }))), [expected]);
    assert.deepEqual(peer.messages, []);
  }
});

test('a refusal is heard although the peer has gone when the next chunk is there', async (t) => {
  const sockets: Socket[] = [];
  const { session } = await meet(t, { stall: (socket) => sockets.push(socket.resume()) });
  const message: MessageContent = {
    ...streamed([LINE, LINE]),
    async *chunks() {
      yield Buffer.from(LINE);
      sockets[0]?.end('552 5.3.4 too big\r\n');
      await waitUntil(() => !session.isOpen());
      yield Buffer.from(LINE);
    },
  };
  assert.deepEqual(summary(await send(session, envelope({ message }))), ['refused body 552']);
});

test('chunks that cannot be read are our own fault, and the message has no end', async (t) => {
  const { peer, session } = await meet(t);
  const message: MessageContent = {
    sizeBytes: LINE.length * 2,
    isEightBit: false,
    inline: undefined,
    async *chunks() {
      yield Buffer.from(LINE);
      throw new RangeError('the disk');
    },
  };
  await assert.rejects(send(session, envelope({ message })), RangeError);
  assert.equal(session.isOpen(), false);
  await waitUntil(() => peer.closedConnections() === 1);
  assert.deepEqual(peer.messages, []);
});

test('a phase is told when it is on the wire: who dies in that moment leaves just that with the peer', async (t) => {
  const wire: Record<string, RegExp> = {
    mail: /^MAIL .*\r\nRCPT .*\r\nDATA\r\n$/,
    rcpt: /^MAIL .*\r\nRCPT .*\r\nDATA\r\n$/,
    data: /^MAIL .*\r\nRCPT .*\r\nDATA\r\n$/,
    body: /\r\nDATA\r\nDKIM-Signature: v=1\r\n(?:x+\r\n)*x*$/,
    dot: /\r\nx+\r\n\.\r\n$/,
  };
  for (const message of [inline(LINE.repeat(10)), streamed([LINE, LINE])]) {
    for (const [phase, expected] of Object.entries(wire)) {
      const { peer, session } = await meet(t);
      const onPhase = (reached: string) => {
        if (reached === phase) session.close();
      };
      assert.match(summary(await send(session, envelope({ message, onPhase })))[0] ?? '', /connection/);
      await waitUntil(() => peer.closedConnections() === 1);
      assert.match(peer.reads.slice(1).join(''), expected, phase);
    }
  }
});

/** Sends a message of 64 slices to a peer that takes each of them after this time, and returns the result. */
async function sendSlowly(sliceMs: number): Promise<{ failure: unknown; slices: number }> {
  let now = 0;
  let slices = 0;
  const connection = {
    hasReply: false,
    get now() {
      return now;
    },
    send: () => true,
    async write() {
      now += sliceMs;
      slices += 1;
    },
  } as unknown as SmtpConnection;
  const message = inline(Buffer.from(LINE.repeat(64 * 840)));
  const failure = await sendContent(connection, envelope({ message }), { blockMs: 180_000 }).catch(
    (error) => error.failure,
  );
  return { failure, slices };
}

test('a peer that takes a block just before each time limit is left, and one on a slow line is not', async () => {
  const { failure, slices } = await sendSlowly(179_000);
  const message = 'the peer took 262144 bytes in 716000 ms, which is too slow';
  assert.deepEqual(failure, { phase: 'body', kind: 'timeout', message });
  assert.equal(slices, 4);
  assert.equal((await sendSlowly(60_000)).failure, '.\r\n');
});
