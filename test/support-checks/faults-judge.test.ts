import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Facts, faultsOf, judge, type Receipt } from '../faults/judge.ts';
import { SOON_MS, type Submission } from '../faults/submission.ts';

const RECIPIENT = 'a@dest.test';

function receipt(change: Partial<Receipt>): Receipt {
  return {
    recipient: RECIPIENT,
    mailFrom: '',
    header: '',
    messageId: '<a@mail.test>',
    sha256: 'bytes',
    attachments: [],
    life: 0,
    atMs: 1_000,
    ...change,
  };
}

function submission(change: Partial<Submission> = {}): Submission {
  return {
    idempotencyKey: 'a',
    recipient: RECIPIENT,
    kind: 'text',
    scheduledAtMs: undefined,
    cancellation: 'none',
    answeredIds: ['em_1'],
    ...change,
  };
}

function judged(receipts: Receipt[], asked = submission(), change: Partial<Facts> = {}) {
  const submitted = new Map([[asked.recipient, asked]]);
  return judge({ acknowledged: [asked], submitted, receipts, endOfLifeMs: [1_100, 5_000], ...change });
}

const CLEAN = {
  lost: [],
  duplicates: 0,
  unexplained: [],
  changed: [],
  strangers: [],
  uncanceled: [],
  early: [],
  damaged: [],
};

test('a message that arrived once is in order', () => {
  assert.deepEqual(judged([receipt({})]), CLEAN);
  assert.deepEqual(faultsOf(CLEAN), []);
});

test('an acknowledged message that never arrived is lost', () => {
  assert.deepEqual(judged([]), { ...CLEAN, lost: [RECIPIENT] });
  assert.deepEqual(faultsOf(judged([])), [`lost: 1, such as ${RECIPIENT}`]);
});

test('a canceled message must not arrive; one whose cancellation was refused must', () => {
  assert.deepEqual(judged([], submission({ cancellation: 'confirmed' })), CLEAN);
  const arrived = judged([receipt({})], submission({ cancellation: 'confirmed' }));
  assert.deepEqual(arrived.uncanceled, [RECIPIENT]);
  assert.deepEqual(judged([], submission({ cancellation: 'refused' })).lost, [RECIPIENT]);
  assert.deepEqual(judged([], submission({ cancellation: 'planned' })).lost, [RECIPIENT]);
});

test('a scheduled message must not arrive before its time, by more than is taken for the same', () => {
  const scheduled = submission({ kind: 'scheduled', scheduledAtMs: 1_000 + SOON_MS });
  assert.deepEqual(judged([receipt({ atMs: 1_000 })], scheduled).early, []);
  assert.deepEqual(judged([receipt({ atMs: 999 })], scheduled).early, [RECIPIENT]);
});

test('a message without its files, or with others, is damaged', () => {
  const attached = submission({ kind: 'attached' });
  assert.deepEqual(judged([receipt({})], attached).damaged, [RECIPIENT]);
  assert.deepEqual(judged([receipt({ attachments: ['00'] })]).damaged, [RECIPIENT]);
});

test('a message that arrived just before a kill may arrive once more after it', () => {
  assert.deepEqual(judged([receipt({}), receipt({ life: 1, atMs: 2_000 })]), { ...CLEAN, duplicates: 1 });
});

test('a message that arrived twice in one life is unexplained', () => {
  const verdict = judged([receipt({}), receipt({ atMs: 1_050 })]);
  assert.deepEqual(verdict.unexplained, [RECIPIENT]);
});

test('a message that arrived long before the kill must not arrive again', () => {
  const receipts = [receipt({}), receipt({ life: 1, atMs: 9_500 })];
  assert.deepEqual(judged(receipts, submission(), { endOfLifeMs: [9_000] }).unexplained, [RECIPIENT]);
});

test('a second copy that differs, or has no Message-ID, is named', () => {
  const again = { life: 1, atMs: 2_000 };
  for (const change of [{ sha256: 'other' }, { messageId: '<b@mail.test>' }]) {
    assert.deepEqual(judged([receipt({}), receipt({ ...again, ...change })]).changed, [RECIPIENT]);
  }
  const nameless = [receipt({ messageId: '' }), receipt({ ...again, messageId: '' })];
  assert.deepEqual(judged(nameless).changed, [RECIPIENT]);
});

test('a message nobody asked for is a stranger', () => {
  const verdict = judged([receipt({}), receipt({ recipient: 'x@dest.test' })]);
  assert.deepEqual(verdict.strangers, ['x@dest.test']);
});
