import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { servePop3User } from '../../../src/mail/pop3/server.ts';
import { createPause } from '../../../src/system/slices.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { handOverTo } from '../../support/handovers.ts';
import { createMemoryMaildrop } from '../../support/memory-pop3-session.ts';
import { recordLog } from '../../support/record-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type Pop3Client, startServer } from './fixture.ts';

const messageOf = (number: number): string => `Subject: ${number}\r\n\r\n${'x'.repeat(50 * number)}\r\n`;

function manyMessages(count: number, retrieved: number[] = []) {
  const texts = Array.from({ length: count }, (_, index) => messageOf(index + 1));
  return createMemoryMaildrop(texts, {
    retrieve(index) {
      retrieved.push(index + 1);
      return Buffer.from(texts[index] as string);
    },
  });
}

async function retrieve(client: Pop3Client, number: number): Promise<void> {
  const lines = ['+OK', ...messageOf(number).slice(0, -2).split('\r\n')];
  assert.deepEqual(await client.askLong(`RETR ${number}`), lines);
}

test('messages are read ahead of a client that takes one after the other, once each', async (t) => {
  const retrieved: number[] = [];
  const { open } = await startServer(t, { drop: manyMessages(50, retrieved) });
  const client = await open();
  await retrieve(client, 1);
  assert.deepEqual(retrieved, [1]);
  await retrieve(client, 2);
  assert.ok(retrieved.length > 10, String(retrieved));
  for (let number = 3; number <= 50; number++) await retrieve(client, number);
  assert.equal(await client.ask('RETR 51'), '-ERR There is no such message');
  assert.deepEqual(
    retrieved,
    [...Array(50).keys()].map((index) => index + 1),
  );
});

test('messages are soon no longer read ahead of a client that deletes each message once it has it', async (t) => {
  const retrieved: number[] = [];
  const { open } = await startServer(t, { drop: manyMessages(60, retrieved) });
  const client = await open();
  for (let number = 1; number <= 60; number++) {
    await retrieve(client, number);
    assert.equal(await client.ask(`DELE ${number}`), '+OK The message is marked as deleted');
    if (number >= 30) assert.equal(retrieved.length, number);
  }
});

test('large messages are not read ahead', async (t) => {
  const large = `Subject: large\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(70)}`;
  const retrieved: number[] = [];
  const drop = createMemoryMaildrop([large, large, large], {
    retrieve(index) {
      retrieved.push(index);
      return Buffer.from(large);
    },
  });
  const { open } = await startServer(t, { drop });
  const client = await open();
  for (const number of [1, 2]) await client.askLong(`RETR ${number}`);
  await client.ask('NOOP');
  assert.deepEqual(retrieved, [0, 1]);
});

test('a client that takes a message now and then is not silent', async (t) => {
  const clock = createFakeClock(0);
  const { open } = await startServer(t, { drop: manyMessages(40), clock, limits: { commandMs: 10_000 } });
  const client = await open();
  for (let number = 1; number <= 40; number++) {
    await retrieve(client, number);
    await clock.advance(6_000);
  }
  assert.equal(await client.ask('NOOP'), '+OK');
});

/** Begins the connection of a user whose listener takes nothing that it receives, and records it. */
function recordUser(sizeBytes: number) {
  const received: string[] = [];
  const sizes = new Uint32Array(20).fill(sizeBytes);
  const maildrop = {
    ...{ uidValidity: 1, sizes, uids: Uint32Array.from(sizes.keys()) },
    retrieve: () => Buffer.alloc(sizeBytes, 'x'),
    quit: async () => undefined,
    close() {},
  };
  const clock = createFakeClock(0);
  const context = { clock, log: recordLog().log, owner: 'user', pause: createPause(clock) };
  const end = handOverTo((stream) => void servePop3User(context, stream, maildrop)).take({
    onOctets: () => void received.push('octets'),
    onNote: (note) => void received.push((note as { kind: string }).kind),
    onDrained() {},
    onEnded() {},
    onClosed() {},
  });
  end.note({ kind: 'begin', head: { isUtf8: false, capabilities: [] } });
  return { received, send: (line: string) => end.send([Buffer.from(`${line}\r\n`)]) };
}

test('answers are sent ahead once the answers before them have left', async () => {
  const { received, send } = recordUser(10_000);
  send('RETR 1');
  await waitUntil(() => received.length === 1);
  send('RETR 2');
  await waitUntil(() => received.includes('ahead'));
  assert.deepEqual(received, ['octets', 'octets', 'ahead']);
});

test('nothing is sent ahead while the answers before wait for a slow reader', async () => {
  const { received, send } = recordUser(30_000);
  // The listener takes the first 256 KiB at most.
  send(Array.from({ length: 15 }, (_, index) => `RETR ${index + 1}`).join('\r\n'));
  await waitUntil(() => received.length > 5);
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  assert.deepEqual(new Set(received), new Set(['octets']));
});

/** Returns numbers from 0 up to 1 that a seed decides. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns commands of a client that mostly takes one message after the other. */
function commandsOf(random: () => number, count: number, messages: number): string[] {
  let last = 0;
  return Array.from({ length: count }, () => {
    const number = 1 + Math.floor(random() * messages);
    const share = random();
    if (share < 0.75) last = share < 0.7 ? last + 1 : number;
    if (share < 0.75) return `RETR ${last}`;
    if (share < 0.85) return `DELE ${last + Math.floor(random() * 5)}`;
    return ['NOOP', 'RSET', `TOP ${number} 0`, 'retr 3', `RETR ${number} `][
      Math.floor(random() * 5)
    ] as string;
  });
}

async function answersTo(
  commands: readonly string[],
  send: (client: Pop3Client) => Promise<void>,
  client: Pop3Client,
) {
  const sent = send(client);
  const answers: string[][] = [];
  for (const command of commands)
    answers.push(/^(RETR|TOP)/i.test(command) ? await client.long() : [await client.line()]);
  await sent;
  return answers;
}

test('answers keep the order and the content of their commands, however these arrive', async (t) => {
  const { open } = await startServer(t, { drop: manyMessages(60) });
  for (let seed = 1; seed <= 10; seed++) {
    const random = createRandom(seed);
    const commands = commandsOf(random, 120, 60);
    const together = await open();
    const sendTogether = async (client: Pop3Client) =>
      client.send(commands.map((command) => `${command}\r\n`).join(''));
    const expected = await answersTo(commands, sendTogether, together);
    assert.equal(await together.ask('RSET'), '+OK');
    await together.ask('QUIT');
    const apart = await open();
    const sendApart = async (client: Pop3Client) => {
      for (const command of commands) {
        client.send(`${command}\r\n`);
        for (let turns = Math.floor(random() * 12); turns > 0; turns--) await nextTurn();
      }
    };
    assert.deepEqual(await answersTo(commands, sendApart, apart), expected, `seed ${seed}`);
    assert.equal(await apart.ask('RSET'), '+OK');
    await apart.ask('QUIT');
  }
});
