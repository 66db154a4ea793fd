import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, decode, encode, type Packet } from 'dns-packet';
import fc from 'fast-check';
import { type RecordData, type Response, readResponse, writeQuery } from '../../../src/system/dns/message.ts';
import { authority, record } from './scripted-server.ts';

const query = writeQuery({ name: 'a.example', type: 'A' }, 4_711, true);
const QUESTION = [{ name: 'a.example', type: 'A' }];

function message(change: Packet): Buffer {
  return encode({ id: 4_711, type: 'response', questions: QUESTION, ...change });
}

function read(bytes: Buffer): Response {
  const reading = readResponse(bytes, query);
  assert.ok(reading.kind === 'response', reading.kind);
  return reading.response;
}

test('a query asks one question, wants recursion, and takes 1,232 bytes', () => {
  const { id, flags, questions, answers, additionals = [] } = decode(query.bytes);
  assert.deepEqual([id, flags, answers], [4_711, 0x0120, []]);
  assert.deepEqual(questions, [{ name: 'a.example', type: 'A', class: 'IN' }]);
  assert.deepEqual(
    additionals.map((one) => 'udpPayloadSize' in one && one.udpPayloadSize),
    [1_232],
  );
  assert.deepEqual(decode(writeQuery({ name: 'a.example', type: 'A' }, 1, false).bytes).additionals, []);
});

/** Records as they are written for the wire, and as they must be read. */
const label = fc.stringMatching(/^[A-Za-z0-9_]([A-Za-z0-9_-]{0,20}[A-Za-z0-9_])?$/);
const name = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));
const written = fc.oneof(
  fc.ipV4().map((data): [string, unknown, RecordData] => ['A', data, { type: 'A', address: data }]),
  name.map((data): [string, unknown, RecordData] => [
    'CNAME',
    data,
    { type: 'CNAME', target: data.toLowerCase() },
  ]),
  fc
    .tuple(fc.nat(65_535), fc.oneof(name, fc.constant('.')))
    .map(([preference, exchange]): [string, unknown, RecordData] => [
      'MX',
      { preference, exchange },
      { type: 'MX', preference, exchange: exchange === '.' ? '' : exchange.toLowerCase() },
    ]),
  fc
    .tuple(fc.nat(65_535), fc.nat(65_535), fc.nat(65_535), fc.oneof(name, fc.constant('.')))
    .map(([priority, weight, port, target]): [string, unknown, RecordData] => [
      'SRV',
      { priority, weight, port, target },
      { type: 'SRV', priority, weight, port, target: target === '.' ? '' : target.toLowerCase() },
    ]),
  fc
    .tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.uint8Array({ minLength: 1, maxLength: 64 }))
    .map(([usage, selector, matchingType, data]): [string, unknown, RecordData] => {
      const certificate = Buffer.from(data);
      const numbers = { usage, selector, matchingType };
      const read = { type: 'TLSA' as const, ...numbers, certificate: certificate.toString('hex') };
      return ['TLSA', { ...numbers, certificate }, read];
    }),
  fc
    .tuple(
      fc.nat(255),
      fc.stringMatching(/^[a-z0-9]{1,15}$/),
      fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
    )
    .map(([flags, tag, value]): [string, unknown, RecordData] => [
      'CAA',
      { flags, tag, value },
      { type: 'CAA', flags, tag, value },
    ]),
  fc
    .array(fc.string({ unit: 'grapheme', maxLength: 20 }), { minLength: 1, maxLength: 4 })
    .map((texts): [string, unknown, RecordData] => ['TXT', texts, { type: 'TXT', text: texts.join('') }]),
  name.map((data): [string, unknown, RecordData] => ['NS', data, { type: 'NS' }]),
);

test('records are read as they were written, names in lower case, between records of no concern', () => {
  const odd = fc.constantFrom<Answer[]>(
    [],
    [record('x.example', 'UNKNOWN_65280', Buffer.from('anything'))],
    [record('x.example', 'HINFO', { cpu: 'x', os: 'y' })],
    [{ ...record('x.example', 'A', '192.0.2.99'), class: 'CH' }],
  );
  const parts = fc.array(fc.tuple(name, written, fc.nat(2 ** 31 - 1), odd), { maxLength: 12 });
  fc.assert(
    fc.property(parts, parts, (answers, authorities) => {
      const write = (list: typeof answers) =>
        list.flatMap(([owner, [type, data], ttl, others]) => [...others, record(owner, type, data, ttl)]);
      const expect = (list: typeof answers) =>
        list.map(([owner, [, , data], ttlSeconds]) => ({ owner: owner.toLowerCase(), ttlSeconds, data }));
      const response = read(message({ answers: write(answers), authorities: write(authorities) }));
      assert.deepEqual(response.answers, expect(answers));
      assert.deepEqual(response.authorities, expect(authorities));
    }),
  );
});

test('an IPv6 address is read, and of an SOA its minimum', () => {
  const response = read(
    message({
      answers: [record('a.example', 'AAAA', '2001:db8::1')],
      authorities: [authority({ ttl: 60, minimum: 30 })],
    }),
  );
  assert.deepEqual(response.answers[0]?.data, { type: 'AAAA', address: '2001:db8::1' });
  assert.deepEqual(response.authorities[0]?.data, { type: 'SOA', minimumSeconds: 30 });
});

const ANSWER = { answers: [record('a.example', 'A', '192.0.2.1')] };

test('a message that does not match the query is foreign', () => {
  const fine = message(ANSWER);
  const edited = (edit: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(fine);
    edit(bytes);
    return bytes;
  };
  const foreign: [string, Buffer][] = [
    ['empty', Buffer.alloc(0)],
    ['cut off in its header', fine.subarray(0, 11)],
    ['another id', edited((bytes) => bytes.writeUInt16BE(4_712, 0))],
    ['a query', edited((bytes) => bytes.writeUInt16BE(0x0100, 2))],
    ['another opcode', edited((bytes) => bytes.writeUInt16BE(0x8800, 2))],
    ['another name', message({ ...ANSWER, questions: [{ name: 'b.example', type: 'A' }] })],
    ['another type', message({ ...ANSWER, questions: [{ name: 'a.example', type: 'MX' }] })],
    ['another class', message({ ...ANSWER, questions: [{ name: 'a.example', type: 'A', class: 'CH' }] })],
    ['a longer name', message({ ...ANSWER, questions: [{ name: 'a.example.b', type: 'A' }] })],
    ['no question', message({ ...ANSWER, questions: [] })],
    ['no question, no such name', message({ questions: [], flags: 3 })],
    ['two questions', message({ ...ANSWER, questions: [...QUESTION, ...QUESTION] })],
    ['cut off in its question', fine.subarray(0, 20)],
  ];
  for (const [what, bytes] of foreign)
    assert.deepEqual(readResponse(bytes, query), { kind: 'foreign' }, what);
});

test('the question may come back in another case, and an error without it', () => {
  assert.equal(read(message({ ...ANSWER, questions: [{ name: 'A.Example', type: 'A' }] })).answers.length, 1);
  assert.equal(read(message({ questions: [], flags: 1 })).code, 1);
});

test('the code of a response has its upper bits in the OPT record', () => {
  const opt = { name: '.', type: 'OPT', udpPayloadSize: 1_232, extendedRcode: 1 } as const;
  assert.equal(read(message({ additionals: [opt] })).code, 16);
  assert.equal(read(message({ flags: 3 })).code, 3);
});

test('a truncated response is one, whatever its records hold', () => {
  const bytes = message({ ...ANSWER, flags: 0x0200 });
  assert.deepEqual(read(bytes.subarray(0, -3)), {
    code: 0,
    isTruncated: true,
    isAuthentic: false,
    answers: [],
    authorities: [],
  });
});

test('a TTL with its highest bit set is none', () => {
  const ttls = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1].map(
    (ttl) => read(message({ answers: [record('a.example', 'A', '192.0.2.1', ttl)] })).answers[0]?.ttlSeconds,
  );
  assert.deepEqual(ttls, [2 ** 31 - 1, 0, 0]);
});

/** The question of `query`, then these bytes as its one answer. */
function oneAnswer(...bytes: number[]): Buffer {
  const head = Buffer.from(message({}));
  head.writeUInt16BE(1, 6);
  return Buffer.concat([head, Buffer.from(bytes)]);
}

const A_IN_TTL = [0, 1, 0, 1, 0, 0, 0, 60];

test('a response that breaks off or contradicts itself is unreadable', () => {
  const at = oneAnswer().length;
  const unreadable: [string, Buffer][] = [
    ['an answer that is missing', oneAnswer()],
    ['a name that points to itself', oneAnswer(0xc0, at, ...A_IN_TTL, 0, 4, 1, 2, 3, 4)],
    ['a name that points ahead', oneAnswer(0xc0, at + 2, ...A_IN_TTL, 0, 4, 1, 2, 3, 4)],
    ['a name that points out of the message', oneAnswer(0xff, 0xff, ...A_IN_TTL, 0, 4, 1, 2, 3, 4)],
    ['a label of a kind that is not', oneAnswer(0x80, 1, 0, ...A_IN_TTL, 0, 4, 1, 2, 3, 4)],
    ['a label that never ends', oneAnswer(63, 97)],
    ['an address of three bytes', oneAnswer(0xc0, 12, ...A_IN_TTL, 0, 3, 1, 2, 3)],
    ['an address of five bytes', oneAnswer(0xc0, 12, ...A_IN_TTL, 0, 5, 1, 2, 3, 4, 5)],
    ['data that is cut off', oneAnswer(0xc0, 12, ...A_IN_TTL, 0, 4, 1, 2, 3)],
    ['a text that is longer than its record', oneAnswer(0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 2, 9, 65)],
    ['an exchange that is missing', oneAnswer(0xc0, 12, 0, 15, 0, 1, 0, 0, 0, 60, 0, 2, 0, 10)],
  ];
  for (const [what, bytes] of unreadable)
    assert.deepEqual(readResponse(bytes, query), { kind: 'unreadable' }, what);
  assert.equal(read(oneAnswer(0xc0, 12, ...A_IN_TTL, 0, 4, 1, 2, 3, 4)).answers.length, 1);
});

test('more records than any honest answer has are not read', () => {
  const answers = Array.from({ length: 1_001 }, () => record('a.example', 'A', '192.0.2.1'));
  assert.deepEqual(readResponse(message({ answers }), query), { kind: 'unreadable' });
  assert.equal(read(message({ answers: answers.slice(1) })).answers.length, 1_000);
});

test('arbitrary bytes are read without an exception', () => {
  const whole = message({
    answers: [
      record('a.example', 'MX', { preference: 1, exchange: 'mx.a.example' }),
      record('a.example', 'TXT', ['some', 'text']),
      record('a.example', 'AAAA', '::1'),
    ],
    authorities: [authority({ ttl: 1, minimum: 1 })],
    additionals: [{ name: '.', type: 'OPT', udpPayloadSize: 512 }],
  });
  const kinds = new Set<string>();
  const head = query.bytes.length - 11;
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255))), fc.nat(), (edits, cut) => {
      const bytes = Buffer.from(whole);
      for (const [at, value] of edits) bytes[at] = value;
      kinds.add(readResponse(bytes, query).kind);
      kinds.add(readResponse(bytes.subarray(0, cut % bytes.length), query).kind);
      const behind = Buffer.from(whole);
      for (const [at, value] of edits) behind[head + (at % (behind.length - head))] = value;
      kinds.add(readResponse(behind, query).kind);
    }),
    { numRuns: 500 },
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(65_535), (noise, counts) => {
      const bytes = Buffer.concat([message({}), noise]);
      bytes.writeUInt16BE(counts, 6);
      kinds.add(readResponse(bytes, query).kind);
    }),
    { numRuns: 500 },
  );
  assert.deepEqual([...kinds].sort(), ['foreign', 'response', 'unreadable']);
});
