import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolve } from '../../../src/system/dns/answer.ts';
import type { Ask } from '../../../src/system/dns/ask.ts';
import type { RecordData, ResourceRecord, Response } from '../../../src/system/dns/message.ts';

const a = (owner: string, address: string, ttlSeconds = 60): ResourceRecord => ({
  owner,
  ttlSeconds,
  data: { type: 'A', address },
});
const alias = (owner: string, target: string, ttlSeconds = 60): ResourceRecord => ({
  owner,
  ttlSeconds,
  data: { type: 'CNAME', target },
});
const soa = (ttlSeconds: number, minimumSeconds: number): ResourceRecord => ({
  owner: 'example',
  ttlSeconds,
  data: { type: 'SOA', minimumSeconds },
});

const NO_SUCH_NAME = 3;

/** Answers by name; names without an answer do not exist. */
function asker(answers: Record<string, Partial<Response>>) {
  const asked: string[] = [];
  const ask: Ask = async ({ name }) => {
    asked.push(name);
    const nothing = {
      code: NO_SUCH_NAME,
      isTruncated: false,
      isAuthentic: false,
      answers: [],
      authorities: [],
    };
    const given = answers[name];
    return { kind: 'response', response: given ? { ...nothing, code: 0, ...given } : nothing };
  };
  return { ask, asked };
}

async function find(answers: Record<string, Partial<Response>>, type: 'A' | 'CNAME' = 'A') {
  const { ask, asked } = asker(answers);
  return { finding: await resolve(ask, { name: 'a.example', type }), asked };
}

const address = (value: string): RecordData => ({ type: 'A', address: value });

test('records of other names and types in the answer are no answer', async () => {
  const strangers = [a('b.example', '192.0.2.66'), { ...a('a.example', ''), data: { type: 'NS' } as const }];
  const { finding } = await find({ 'a.example': { answers: [...strangers, a('a.example', '192.0.2.1')] } });
  assert.deepEqual(finding, { kind: 'found', records: [address('192.0.2.1')], ttlMs: 60_000 });
  assert.deepEqual((await find({ 'a.example': { answers: strangers } })).finding, {
    kind: 'no-data',
    ttlMs: 0,
  });
});

test('aliases in the answer are followed in any order, and the least TTL of the chain counts', async () => {
  const records = [a('c.example', '192.0.2.1', 90), a('c.example', '192.0.2.2', 80)];
  const chain = [alias('b.example', 'c.example', 70), alias('a.example', 'b.example', 100)];
  const { finding, asked } = await find({ 'a.example': { answers: [...records, ...chain] } });
  assert.deepEqual(finding, {
    kind: 'found',
    records: [address('192.0.2.1'), address('192.0.2.2')],
    ttlMs: 70_000,
    aliasTarget: 'c.example',
  });
  assert.deepEqual(asked, ['a.example']);
});

test('an alias that leads out of the answer is asked for, and its TTL still counts', async () => {
  const { finding, asked } = await find({
    'a.example': { answers: [alias('a.example', 'b.example', 30)] },
    'b.example': { answers: [alias('b.example', 'c.example', 40)] },
    'c.example': { answers: [a('c.example', '192.0.2.1', 50)] },
  });
  assert.deepEqual(finding, {
    kind: 'found',
    records: [address('192.0.2.1')],
    ttlMs: 30_000,
    aliasTarget: 'c.example',
  });
  assert.deepEqual(asked, ['a.example', 'b.example', 'c.example']);
});

test('a question for CNAME records is answered with the alias itself', async () => {
  const { finding, asked } = await find(
    { 'a.example': { answers: [alias('a.example', 'b.example')] } },
    'CNAME',
  );
  assert.deepEqual(finding, {
    kind: 'found',
    records: [{ type: 'CNAME', target: 'b.example' }],
    ttlMs: 60_000,
  });
  assert.deepEqual(asked, ['a.example']);
});

test('aliases without end are a failure, in one answer and over many', async () => {
  const failed = { kind: 'failed', reason: 'too many aliases' };
  const round = [alias('a.example', 'b.example'), alias('b.example', 'a.example')];
  const inOne = await find({ 'a.example': { answers: round } });
  assert.deepEqual([inOne.finding, inOne.asked.length], [failed, 1]);
  const name = (index: number) => (index === 0 ? 'a.example' : `n${index}.example`);
  const long = Array.from({ length: 100 }, (_, index) => [
    name(index),
    { answers: [alias(name(index), name(index + 1))] },
  ]);
  const overMany = await find(Object.fromEntries(long));
  assert.deepEqual([overMany.finding, overMany.asked.length], [failed, 17]);
});

test('a chain of sixteen is followed', async () => {
  const chain = Array.from({ length: 16 }, (_, index) =>
    alias(index === 0 ? 'a.example' : `n${index}.example`, `n${index + 1}.example`),
  );
  const { finding } = await find({ 'a.example': { answers: [...chain, a('n16.example', '192.0.2.1')] } });
  assert.equal(finding.kind, 'found');
});

test('a negative answer is cached as long as the SOA says, at most five minutes, and not at all without an SOA', async () => {
  for (const [ttl, minimum, ttlMs] of [
    [60, 200, 60_000],
    [200, 60, 60_000],
    [86_400, 86_400, 300_000],
  ] as const) {
    const authorities = [{ ...soa(0, 0), data: { type: 'NS' } as const }, soa(ttl, minimum)];
    assert.deepEqual((await find({ 'a.example': { authorities } })).finding, { kind: 'no-data', ttlMs });
    const missing = await find({ 'a.example': { authorities, code: NO_SUCH_NAME } });
    assert.deepEqual(missing.finding, { kind: 'no-name', ttlMs });
  }
  assert.deepEqual((await find({ 'a.example': {} })).finding, { kind: 'no-data', ttlMs: 0 });
  assert.deepEqual((await find({})).finding, { kind: 'no-name', ttlMs: 0 });
});

test('at the end of an alias there can be nothing too, and that is known without asking again', async () => {
  const aliasTarget = 'b.example';
  const answers = [alias('a.example', aliasTarget, 20)];
  const authorities = [soa(60, 60)];
  const gone = await find({ 'a.example': { answers, authorities, code: NO_SUCH_NAME } });
  assert.deepEqual([gone.finding, gone.asked.length], [{ kind: 'no-name', ttlMs: 20_000, aliasTarget }, 1]);
  const bare = await find({ 'a.example': { answers, code: NO_SUCH_NAME } });
  assert.deepEqual([bare.finding, bare.asked.length], [{ kind: 'no-name', ttlMs: 0, aliasTarget }, 1]);
  const empty = await find({ 'a.example': { answers, authorities } });
  assert.deepEqual([empty.finding, empty.asked.length], [{ kind: 'no-data', ttlMs: 20_000, aliasTarget }, 1]);
});

test('records hold for a day at most', async () => {
  const { finding } = await find({ 'a.example': { answers: [a('a.example', '192.0.2.1', 2 ** 31 - 1)] } });
  assert.equal(finding.kind === 'found' && finding.ttlMs, 86_400_000);
});

test('an answer is secure only when every step of its aliases is', async () => {
  const last = { answers: [a('b.example', '192.0.2.1')] };
  const first = { answers: [alias('a.example', 'b.example')] };
  const find2 = async (one: boolean, other: boolean) => {
    const answers = {
      'a.example': { ...first, isAuthentic: one },
      'b.example': { ...last, isAuthentic: other },
    };
    const { isSecure, aliasTarget } = (await find(answers)).finding as {
      isSecure?: true;
      aliasTarget?: string;
    };
    return { isSecure, aliasTarget };
  };
  assert.deepEqual(await find2(true, true), { isSecure: true, aliasTarget: 'b.example' });
  for (const [one, other] of [
    [true, false],
    [false, true],
  ] as const)
    assert.deepEqual(await find2(one, other), { isSecure: undefined, aliasTarget: 'b.example' });
});
