import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { type TestContext, test } from 'node:test';
import { type Clock, realClock } from '../../../src/system/clock.ts';
import { createAsk } from '../../../src/system/dns/ask.ts';
import type { ExchangeOutcome } from '../../../src/system/dns/exchange.ts';
import type { Question } from '../../../src/system/dns/message.ts';
import { createServers } from '../../../src/system/dns/servers.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import {
  type Asked,
  addresses,
  authority,
  record,
  respond,
  type Script,
  startScriptedServer,
} from './scripted-server.ts';

const QUESTION: Question = { name: 'a.example', type: 'A' };
const silence: Script = () => [];
const one: Script = (asked) => [addresses(asked, '192.0.2.1')];
const code =
  (value: number): Script =>
  (asked) => [respond(asked, { flags: value })];

/** On the real clock, by which a datagram that is lost is only late. */
const world = (t: TestContext, ...scripts: Script[]) => worldOn(realClock, t, scripts);

/** On a clock that the test moves. */
async function stoppedWorld(t: TestContext, ...scripts: Script[]) {
  const clock = createFakeClock(0);
  return { clock, ...(await worldOn(clock, t, scripts)) };
}

async function worldOn(clock: Clock, t: TestContext, scripts: Script[]) {
  const servers = await Promise.all(scripts.map(startScriptedServer));
  t.after(() => Promise.all(servers.map((server) => server.close())));
  const ask = createAsk(clock, createServers({ clock, servers: servers.map(({ address }) => address) }));
  return { servers, ask, first: servers[0]!, second: servers[1]! };
}

/** The addresses found, or why not. */
async function found(outcome: Promise<ExchangeOutcome>): Promise<string[] | string> {
  const ended = await outcome;
  if (ended.kind === 'failed') return ended.reason;
  return ended.response.answers.map(({ data }) => ('address' in data ? data.address : data.type));
}

test('each query has an id and a port of its own that do not count up', async (t) => {
  const { ask, first } = await world(t, one);
  for (let count = 0; count < 60; count++) await ask({ name: `n${count}.example`, type: 'A' });
  const steps = (values: number[]) =>
    new Set(values.slice(1).map((value, index) => value - (values[index] ?? 0)));
  const ids = first.asked.map(({ id }) => id);
  const ports = first.asked.map(({ port }) => port);
  for (const [what, values] of [
    ['ids', ids],
    ['ports', ports],
  ] as const) {
    assert.ok(new Set(values).size > 50, `${what} ${values}`);
    assert.ok(steps(values).size > 40, `${what} ${values}`);
    assert.ok(Math.max(...values) - Math.min(...values) > 10_000, `${what} ${values}`);
  }
});

test('a response that does not match the query is ignored, and the exchange keeps waiting', async (t) => {
  const { ask } = await world(t, (asked) => [
    Buffer.from('no message'),
    addresses({ ...asked, id: asked.id ^ 1 }, '192.0.2.66'),
    addresses({ ...asked, name: 'b.example' }, '192.0.2.67'),
    asked.bytes,
    addresses(asked, '192.0.2.1'),
  ]);
  assert.deepEqual(await found(ask(QUESTION)), ['192.0.2.1']);
});

test('a matching answer from another port or address is ignored', async (t) => {
  const forgers = ['127.0.0.1', '127.0.0.2'].map((address) => {
    const socket = createSocket('udp4');
    socket.bind(0, address);
    t.after(() => socket.close());
    return socket;
  });
  const { ask } = await world(t, async (asked) => {
    const forged = addresses(asked, '192.0.2.66');
    for (const forger of forgers) {
      await new Promise((sent) => forger.send(forged, asked.port, '127.0.0.1', sent));
    }
    return [addresses(asked, '192.0.2.1')];
  });
  assert.deepEqual(await found(ask(QUESTION)), ['192.0.2.1']);
});

test('a truncated answer is asked for again over TCP', async (t) => {
  const many = Array.from({ length: 900 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  const { ask, first } = await world(t, (asked) =>
    asked.over === 'udp' ? [respond(asked, { flags: 0x0200 })] : [addresses(asked, ...many)],
  );
  assert.deepEqual(await found(ask(QUESTION)), many);
  const overs = first.asked.map(({ over }) => over);
  assert.deepEqual(overs, ['udp', 'tcp']);
});

test('a response over TCP must match the query, be complete, and fit', async (t) => {
  const { ask, first } = await world(t, silence);
  for (const lie of [
    (asked: Asked) => addresses({ ...asked, id: asked.id ^ 1 }, '192.0.2.66'),
    (asked: Asked) => addresses({ ...asked, name: 'b.example' }, '192.0.2.66'),
    (asked: Asked) => respond(asked, { flags: 0x0200 }),
    (asked: Asked) => addresses(asked, '192.0.2.66').subarray(0, -1),
  ]) {
    first.script = (asked) => [asked.over === 'udp' ? respond(asked, { flags: 0x0200 }) : lie(asked)];
    assert.equal(await found(ask(QUESTION)), 'EBADRESP');
  }
});

test('a server that takes no connections, or closes them unanswered, has failed at once', async (t) => {
  const { ask, first } = await world(t, (asked) => [respond(asked, { flags: 0x0200 })]);
  await first.setTcp('hang up');
  assert.match(String(await found(ask(QUESTION))), /^(?:EBADRESP|ECONNRESET|EPIPE)$/);
  await first.setTcp('closed');
  assert.equal(await found(ask(QUESTION)), 'ECONNREFUSED');
});

test('an answer that cannot be read is a failure, also a full 64 KiB of noise over TCP', async (t) => {
  const { ask, first } = await world(t, (asked) => [addresses(asked, '192.0.2.1').subarray(0, -2)]);
  assert.equal(await found(ask(QUESTION)), 'EBADRESP');
  first.script = (asked) => {
    if (asked.over === 'udp') return [respond(asked, { flags: 0x0200 })];
    const noise = Buffer.alloc(65_535, 0xc0);
    respond(asked).copy(noise);
    noise.writeUInt16BE(0xffff, 6);
    return [noise];
  };
  assert.equal(await found(ask(QUESTION)), 'EBADRESP');
});

for (const [name, value] of [
  ['SERVFAIL', 2],
  ['REFUSED', 5],
  ['NOTIMP', 4],
  ['FORMERR', 1],
] as const) {
  test(`after ${name} the next server is asked, and all once more before it is a failure`, async (t) => {
    const { ask, first, second } = await world(t, code(value), one);
    assert.deepEqual(await found(ask(QUESTION)), ['192.0.2.1']);
    second.script = code(value);
    first.asked.length = 0;
    assert.equal(await found(ask(QUESTION)), `E${name}`);
    const rounds = first.asked.filter(({ edns }) => edns);
    assert.equal(rounds.length, 2);
  });
}

test('an unknown response code is a failure too', async (t) => {
  const { ask } = await world(t, code(9));
  assert.equal(await found(ask(QUESTION)), 'ERCODE9');
});

test('a server without EDNS is asked again without it', async (t) => {
  const opt = { name: '.', type: 'OPT', udpPayloadSize: 512, extendedRcode: 1 } as const;
  for (const refusal of [{ flags: 1 }, { flags: 4 }, { flags: 1, questions: [] }, { additionals: [opt] }]) {
    const { ask, first } = await world(t, (asked) =>
      asked.edns ? [respond(asked, refusal)] : [addresses(asked, '192.0.2.1')],
    );
    assert.deepEqual(await found(ask(QUESTION)), ['192.0.2.1'], JSON.stringify(refusal));
    const edns = first.asked.map(({ edns }) => edns);
    assert.deepEqual(edns, [true, false]);
  }
});

test('a server that sends a referral is skipped, because the name may exist', async (t) => {
  const referral: Script = (asked) => [
    respond(asked, { authorities: [record('example', 'NS', 'ns.example')] }),
  ];
  const { ask, second } = await world(t, referral, one);
  assert.deepEqual(await found(ask(QUESTION)), ['192.0.2.1']);
  second.script = referral;
  assert.equal(await found(ask(QUESTION)), 'EREFERRAL');
  const both = [record('example', 'NS', 'ns.example'), authority({ ttl: 60, minimum: 60 })];
  second.script = (asked) => [respond(asked, { authorities: both })];
  assert.deepEqual(await found(ask(QUESTION)), []);
  const answers = [record('a.example', 'A', '192.0.2.2')];
  second.script = (asked) => [respond(asked, { answers, authorities: both.slice(0, 1) })];
  assert.deepEqual(await found(ask(QUESTION)), ['192.0.2.2']);
});

test('a silent server is left after five seconds, and for half a minute asked last', async (t) => {
  const { ask, clock, first, second } = await stoppedWorld(t, silence, one);
  const answer = ask(QUESTION);
  await first.untilAsked(1);
  await clock.advance(4_999);
  assert.equal(second.asked.length, 0);
  await clock.advance(1);
  assert.deepEqual(await found(answer), ['192.0.2.1']);
  await ask({ name: 'b.example', type: 'A' });
  assert.deepEqual([first.asked.length, second.asked.length], [1, 2]);
  await clock.advance(30_000);
  first.script = one;
  await ask({ name: 'c.example', type: 'A' });
  assert.deepEqual([first.asked.length, second.asked.length], [2, 2]);
});

test('a DNS server that stays silent is asked twice, five seconds each', async (t) => {
  const { ask, clock, first } = await stoppedWorld(t, silence);
  const answer = ask(QUESTION);
  await first.untilAsked(1);
  await clock.advance(5_000);
  await first.untilAsked(2);
  await clock.advance(5_000);
  assert.equal(await found(answer), 'ETIMEOUT');
  assert.equal(first.asked.length, 2);
});

test('a server that goes silent over TCP is left at the same time', async (t) => {
  const { ask, clock, first, second } = await stoppedWorld(
    t,
    (asked) => (asked.over === 'udp' ? [respond(asked, { flags: 0x0200 })] : []),
    one,
  );
  const answer = ask(QUESTION);
  await first.untilAsked(2);
  await clock.advance(5_000);
  assert.deepEqual(await found(answer), ['192.0.2.1']);
  assert.equal(second.asked.length, 1);
});

test('a closed port fails at once', async (t) => {
  const { ask, servers } = await world(t, silence);
  await servers[0]?.close();
  servers.length = 0;
  assert.equal(await found(ask(QUESTION)), 'ECONNREFUSED');
});

test('without any server a question fails', async () => {
  const clock = createFakeClock(0);
  const ask = createAsk(clock, createServers({ clock, servers: [], ofMachine: () => [] }));
  assert.equal(await found(ask(QUESTION)), 'no resolver is configured');
});

test('equal questions at the same time are one, others are not', async (t) => {
  const { ask, first } = await world(t, one);
  await Promise.all([
    ask(QUESTION),
    ask(QUESTION),
    ask({ ...QUESTION, type: 'TXT' }),
    ask({ name: 'b.example', type: 'A' }),
  ]);
  assert.equal(first.asked.length, 3);
  await ask(QUESTION);
  assert.equal(first.asked.length, 4);
});

test('at most 128 questions are asked at the same time, and the others wait their turn', async (t) => {
  const { ask, clock, first } = await stoppedWorld(t, silence);
  const answers = Array.from({ length: 130 }, (_, index) =>
    found(ask({ name: `n${index}.example`, type: 'A' })),
  );
  await first.untilAsked(128);
  await clock.advance(1_000);
  assert.equal(first.asked.length, 128);
  first.script = one;
  await clock.advance(4_000);
  const ended = await Promise.all(answers);
  assert.deepEqual(new Set(ended.flat()), new Set(['192.0.2.1']));
  assert.equal(new Set(first.asked.map(({ name }) => name)).size, 130);
});

test('background questions hold half of the slots, and a delivery does not wait for them', async (t) => {
  const { ask, clock, first } = await stoppedWorld(t, (asked) =>
    asked.name.startsWith('silent') ? [] : one(asked),
  );
  const silent = Array.from({ length: 200 }, (_, index) =>
    found(ask({ name: `silent${index}.example`, type: 'A' }, 'background')),
  );
  await first.untilAsked(64);
  assert.deepEqual(await found(ask(QUESTION)), ['192.0.2.1']);
  const equal = { name: 'equal.example', type: 'A' } as const;
  let hasAnswer = false;
  const waiting = ask(equal, 'background').then(() => {
    hasAnswer = true;
  });
  assert.deepEqual(await found(ask(equal)), ['192.0.2.1']);
  assert.equal(hasAnswer, false);
  assert.equal(first.asked.length, 66);
  first.script = one;
  await clock.advance(5_000);
  await waiting;
  assert.deepEqual(new Set((await Promise.all(silent)).flat()), new Set(['192.0.2.1']));
});

test('questions beyond what can wait fail at once', async (t) => {
  const { clock, first, servers } = await stoppedWorld(t, silence);
  const list = createServers({ clock, servers: servers.map(({ address }) => address) });
  let isConfigured = true;
  // Ten thousand exchanges over sockets would take seconds, so the waiting questions find no resolver when they begin.
  const ask = createAsk(clock, { ...list, inOrder: () => (isConfigured ? list.inOrder() : []) });
  const names = Array.from({ length: 128 + 10_000 }, (_, index) => `n${index}.example`);
  const answers = names.map((name) => found(ask({ name, type: 'A' })));
  assert.equal(await found(ask(QUESTION)), 'too many questions');
  await first.untilAsked(128);
  isConfigured = false;
  await clock.advance(5_000);
  const reasons = Map.groupBy(await Promise.all(answers), String);
  assert.equal(reasons.get('no resolver is configured')?.length, 10_000);
  assert.equal(reasons.get('ETIMEOUT')?.length, 128);
});

test('what a resolver says of DNSSEC counts only when all resolvers are trusted', async (t) => {
  const { servers } = await world(t, (asked) => [respond(asked, { flags: 0x0020 })]);
  const [address = ''] = servers.map((server) => server.address);
  const list = createServers({ clock: realClock, servers: [address] });
  for (const isTrusted of [true, false]) {
    const ask = createAsk(realClock, { ...list, areTrusted: () => isTrusted });
    const outcome = await ask(QUESTION);
    assert.equal(outcome.kind === 'response' && outcome.response.isAuthentic, isTrusted);
  }
});
