import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIN_PASSED_BYTES } from '../../../../src/mail/connection/pieces.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import { ENVELOPE, expect, greet, startServer, type TestClient } from './fixture.ts';

const MINUTE_MS = 60_000;

/** Sends the same bytes again and again and returns the first reply that does not begin with `code`. */
async function repeat(
  client: TestClient,
  bytes: string,
  code: string,
): Promise<{ count: number; reply: string }> {
  for (let count = 0; ; count++) {
    const reply = await client.ask(bytes);
    if (!reply.startsWith(code)) return { count, reply };
  }
}

async function sendMessage(client: TestClient): Promise<void> {
  client.send(`${ENVELOPE}BDAT 1 LAST\r\nx`);
  await expect(client, '250', '250', '250');
}

test('a client that talks before the banner is refused', async (t) => {
  const { dial, sessions, metrics } = await startServer(t, {
    hooks: { connect: () => new Promise((resolve) => setTimeout(resolve, 20)) },
  });
  const client = dial();
  client.send('EHLO client.example\r\n');
  assert.deepEqual(await client.rest(), ['554', 'closed']);
  assert.equal(sessions.calls.ehlo, 0);
  assert.match(await metrics(), /smtp_refusals_total\{listener="smtp",reason="early_talker"\} 1/);
});

test('a request of a browser ends the connection before its body is read', async (t) => {
  const { greeted, sessions } = await startServer(t);
  const client = await greeted();
  client.send(`POST / HTTP/1.1\r\nHost: mx.test\r\n\r\nEHLO client.example\r\n${ENVELOPE}`);
  assert.deepEqual(await client.rest(), ['554', 'closed']);
  assert.equal(sessions.calls.ehlo, 0);
});

test('a command line has at most 4,096 octets, however it comes', async (t) => {
  const { dial } = await startServer(t);
  const client = await greet(dial());
  assert.match(await client.ask(`NOOP ${'x'.repeat(4_091)}\r\n`), /^250/);
  client.send(`NOOP ${'x'.repeat(4_092)}\r\n`);
  assert.deepEqual(await client.rest(), ['500', 'closed']);
  const endless = await greet(dial());
  endless.send('x'.repeat(100_000));
  assert.deepEqual(await endless.rest(), ['500', 'closed']);
});

test('errors, commands without a message and refused recipients end a connection, unless a message is accepted', async (t) => {
  const { dial, metrics } = await startServer(t, {
    hooks: {
      rcpt: async ({ address }) =>
        address.startsWith('b@')
          ? undefined
          : { code: address.startsWith('later@') ? 450 : 550, text: 'No such user' },
    },
    limits: { deferredRecipients: 30 },
  });
  for (const { bytes, code, count, command } of [
    { bytes: 'WHAT\r\n', code: '500', count: 20, command: 'WHAT\r\n' },
    { bytes: 'NOOP\r\n', code: '250', count: 99, command: 'NOOP\r\n' },
    { bytes: 'RSET\r\n', code: '250', count: 99, command: 'RSET\r\n' },
    { bytes: 'RCPT TO:<nobody@test.example>\r\n', code: '550', count: 10, command: ENVELOPE },
    { bytes: 'RCPT TO:<later@test.example>\r\n', code: '450', count: 30, command: ENVELOPE },
  ]) {
    const client = await greet(dial());
    if (command === ENVELOPE) assert.match(await client.ask('MAIL FROM:<>\r\n'), /^250/);
    for (let sent = 0; sent < count / 2; sent++)
      assert.match(await client.ask(bytes), new RegExp(`^${code}`));
    if (command === ENVELOPE) await client.ask('RSET\r\n');
    await sendMessage(client);
    if (command === ENVELOPE) assert.match(await client.ask('MAIL FROM:<>\r\n'), /^250/);
    const { count: answered, reply } = await repeat(client, bytes, code);
    assert.equal(answered, count === 99 ? 100 : count, bytes);
    assert.match(reply, /^421 4\.7\.0 /);
    assert.equal(await client.reply(), 'closed');
  }
  const text = await metrics();
  assert.match(text, /smtp_refusals_total\{listener="smtp",reason="errors"\} 1/);
  assert.match(text, /smtp_refusals_total\{listener="smtp",reason="commands"\} 2/);
  assert.match(text, /smtp_refusals_total\{listener="smtp",reason="refused_recipients"\} 2/);
  assert.match(text, /smtp_messages_total\{listener="smtp"\} 5/);
});

test('a client without limits may name any number of recipients that are refused', async (t) => {
  const { dial } = await startServer(t, {
    hooks: { rcpt: async () => ({ code: 550, text: 'No such user' }) },
    isExempt: (address) => address === '127.0.0.3',
  });
  const client = await greet(dial('127.0.0.3'));
  assert.match(await client.ask('MAIL FROM:<>\r\n'), /^250/);
  for (let sent = 0; sent < 30; sent++)
    assert.match(await client.ask('RCPT TO:<nobody@test.example>\r\n'), /^550/);
});

test('more recipients than a message may have are for another transaction', async (t) => {
  const { dial, sessions } = await startServer(t, { limits: { recipients: 2 } });
  const client = await greet(dial());
  client.send(`${ENVELOPE}RCPT TO:<c@test.example>\r\nRCPT TO:<d@test.example>\r\nBDAT 1 LAST\r\nx`);
  for (const code of ['250', '250', '250', '452 4.5.3', '250'])
    assert.ok((await client.reply()).startsWith(code));
  assert.equal(sessions.messages[0]?.recipients.length, 2);
});

test('an address has only so many new connections in a minute', async (t) => {
  const clock = createFakeClock(0);
  const { dial, metrics } = await startServer(t, {
    clock,
    limits: { connectionsPerMinute: 3 },
    isExempt: (address) => address === '127.0.0.3',
  });
  const banner = (localAddress?: string) => dial(localAddress).reply();
  for (let count = 0; count < 3; count++) assert.match(await banner(), /^220/);
  assert.match(await banner(), /^421 4\.7\.0 Your address has too many new connections/);
  assert.match(await banner('127.0.0.2'), /^220/);
  for (let count = 0; count < 4; count++) assert.match(await banner('127.0.0.3'), /^220/);
  await clock.advance(20_000);
  assert.match(await banner(), /^220/);
  assert.match(await metrics(), /smtp_refusals_total\{listener="smtp",reason="connection_rate"\} 1/);
});

test('connections beyond the limits are told so at once', async (t) => {
  const { dial } = await startServer(t, { limits: { connectionsPerAddress: 1 } });
  assert.match(await dial().reply(), /^220/);
  assert.equal(await dial().reply(), '421 mx.test has too many connections\r\n');
});

test('each command has its time, and 10 s of it while connections are scarce', async (t) => {
  for (const [limits, timeoutMs] of [
    [{}, 5 * MINUTE_MS],
    [{ connections: 1 }, 10_000],
  ] as const) {
    const clock = createFakeClock(0);
    const { dial } = await startServer(t, { clock, limits });
    const client = await greet(dial());
    client.send('NOO');
    await clock.advance(timeoutMs - 1);
    assert.equal(client.packets.length, 2);
    await clock.advance(1);
    assert.match(await client.reply(), /^421 4\.4\.2 /);
    assert.equal(await client.reply(), 'closed');
  }
});

test('under stress an error ends a connection, as in Postfix, and a message has 10 s and the time that its bytes earn', async (t) => {
  const clock = createFakeClock(0);
  let receivedBytes = 0;
  const { dial } = await startServer(t, {
    clock,
    limits: { connections: 1 },
    hooks: {
      async data(body) {
        for await (const piece of body) receivedBytes += piece.length;
        return { code: 250, text: 'Kept' };
      },
    },
  });
  const wrong = await greet(dial());
  assert.match(await wrong.ask('WHAT\r\n'), /^500/);
  assert.deepEqual(await wrong.rest(), ['421', 'closed']);
  const client = await greet(dial());
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '354');
  const { length: packets } = client.packets;
  await clock.advance(9_000);
  // So many octets earn 10 s at 500 in a second.
  client.send('x'.repeat(5_000));
  await waitUntil(() => receivedBytes > 0);
  await clock.advance(9_999);
  assert.equal(client.packets.length, packets);
  await clock.advance(1);
  assert.deepEqual(await client.rest(), ['421', 'closed']);
});

test('a relay without limits keeps its connection and its times when others are ended', async (t) => {
  const clock = createFakeClock(0);
  const { dial } = await startServer(t, {
    clock,
    limits: { connections: 2 },
    isExempt: (address) => address === '127.0.0.3',
  });
  const relay = await greet(dial('127.0.0.3'));
  const stranger = await greet(dial());
  const next = await greet(dial());
  assert.deepEqual(await stranger.rest(), ['421', 'closed']);
  for (let command = 0; command < 50; command++) assert.match(await relay.ask('NOOP\r\n'), /^250/);
  await clock.advance(60_000);
  assert.deepEqual(await next.rest(), ['421', 'closed']);
  assert.match(await relay.ask('NOOP\r\n'), /^250/);
});

test('a message of many small chunks has the time of any other message', async (t) => {
  const clock = createFakeClock(0);
  const { dial } = await startServer(t, { clock });
  const client = await greet(dial());
  client.send(ENVELOPE);
  await expect(client, '250', '250');
  for (let minute = 0; minute < 3; minute++) {
    assert.match(await client.ask('BDAT 1\r\nx'), /^250/);
    await clock.advance(MINUTE_MS);
  }
  // Three octets earn 6 ms.
  await clock.advance(6);
  assert.deepEqual(await client.rest(), ['421', 'closed']);
});

test('a message has a time for each block, and one in all that grows with its bytes', async (t) => {
  const clock = createFakeClock(0);
  let receivedBytes = 0;
  const failures: Error[] = [];
  const { dial, metrics } = await startServer(t, {
    clock,
    limits: {
      dataBlockMs: 10_000,
      dataMs: 20_000,
      minBytesPerSecond: 10 * MIN_PASSED_BYTES,
      maxDataMs: 60_000,
    },
    hooks: {
      async data(body) {
        try {
          for await (const piece of body) receivedBytes += piece.length;
        } catch (error) {
          failures.push(error as Error);
        }
        return { code: 250, text: 'Kept' };
      },
    },
  });
  /** Sends so many blocks every 5 s until the connection ends, and returns the seconds that it took. */
  const drip = async (blocks: number): Promise<number> => {
    const client = await greet(dial());
    client.send(`${ENVELOPE}DATA\r\n`);
    await expect(client, '250', '250', '354');
    const ended = failures.length + 1;
    receivedBytes = 0;
    let seconds = 0;
    for (; failures.length < ended; seconds += 5) {
      client.send('x'.repeat(blocks * MIN_PASSED_BYTES));
      // The rest of a block waits until it is whole.
      const due = ((seconds / 5 + 1) * blocks - 1) * MIN_PASSED_BYTES;
      await waitUntil(() => receivedBytes > due || failures.length >= ended);
      await clock.advance(5_000);
    }
    assert.deepEqual(await client.rest(), ['421', 'closed']);
    return seconds;
  };
  assert.equal(await drip(0), 10);
  // One block earns 0.1 s.
  assert.equal(await drip(1), 25);
  // So many blocks are fast enough, but no message takes longer than the maximum.
  assert.equal(await drip(100), 60);
  assert.match(await metrics(), /smtp_refusals_total\{listener="smtp",reason="slow_data"\} 3/);
});

test('a message has at most the announced size, and a client that does not stop is cut off', async (t) => {
  const { dial, sessions } = await startServer(t, { limits: { messageBytes: 1_000 } });
  const client = await greet(dial());
  const line = `${'x'.repeat(98)}\r\n`;
  const data = async (text: string): Promise<string> => {
    client.send(`${ENVELOPE}DATA\r\n`);
    await expect(client, '250', '250', '354');
    return client.ask(text);
  };
  assert.match(await data(`${line.repeat(10)}.\r\n`), /^250/);
  assert.match(await data(`${line.repeat(10)}x\r\n.\r\n`), /^552 5\.3\.4/);
  assert.match(await data(`${line.repeat(10)}.\r\n`), /^250/);
  assert.match(await client.ask('MAIL FROM:<> SIZE=1001\r\n'), /^552 5\.3\.4/);
  client.send(`${ENVELOPE}DATA\r\n`);
  await expect(client, '250', '250', '354');
  for (let lines = 0; lines < 40; lines++) client.send(line);
  assert.deepEqual(await client.rest(), ['552', 'closed']);
  assert.equal(sessions.messages.length, 2);
});
