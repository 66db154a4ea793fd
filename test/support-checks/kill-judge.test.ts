import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeKills, type KillFacts, type Receipt } from '../faults/kill-judge.ts';

function receipt(change: Partial<Receipt>): Receipt {
  return {
    recipient: 'a@dest.test',
    messageId: '<a@mail.test>',
    bytes: Buffer.from('bytes'),
    life: 0,
    atMs: 1_000,
    ...change,
  };
}

function judge(receipts: Receipt[], change: Partial<KillFacts> = {}) {
  return judgeKills({
    acknowledged: ['a@dest.test'],
    submitted: new Set(['a@dest.test']),
    receipts,
    endOfLifeMs: [1_100, 5_000],
    ...change,
  });
}

const CLEAN = { lost: [], duplicates: 0, unexplained: [], changed: [], strangers: [] };

test('a message that arrived once is in order', () => {
  assert.deepEqual(judge([receipt({})]), CLEAN);
});

test('an acknowledged message that never arrived is lost', () => {
  assert.deepEqual(judge([]), { ...CLEAN, lost: ['a@dest.test'] });
});

test('a message that arrived just before a kill may arrive once more after it', () => {
  assert.deepEqual(judge([receipt({}), receipt({ life: 1, atMs: 2_000 })]), { ...CLEAN, duplicates: 1 });
});

test('a message that arrived twice in one life is unexplained', () => {
  const verdict = judge([receipt({}), receipt({ atMs: 1_050 })]);
  assert.deepEqual(verdict.unexplained, ['a@dest.test']);
});

test('a message that arrived long before the kill must not arrive again', () => {
  const receipts = [receipt({}), receipt({ life: 1, atMs: 9_500 })];
  assert.deepEqual(judge(receipts, { endOfLifeMs: [9_000] }).unexplained, ['a@dest.test']);
});

test('a second copy that differs, or has no Message-ID, is named', () => {
  const again = { life: 1, atMs: 2_000 };
  for (const change of [{ bytes: Buffer.from('other') }, { messageId: '<b@mail.test>' }]) {
    assert.deepEqual(judge([receipt({}), receipt({ ...again, ...change })]).changed, ['a@dest.test']);
  }
  const nameless = [receipt({ messageId: '' }), receipt({ ...again, messageId: '' })];
  assert.deepEqual(judge(nameless).changed, ['a@dest.test']);
});

test('a message nobody asked for is a stranger', () => {
  const verdict = judge([receipt({}), receipt({ recipient: 'x@dest.test' })]);
  assert.deepEqual(verdict.strangers, ['x@dest.test']);
});
