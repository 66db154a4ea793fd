/** The judge of broadcasts finds what it is there to find. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareReceipts, type LedgerRow } from '../faults/broadcast/audit.ts';
import type { Receipt } from '../faults/judge.ts';

const ROW: LedgerRow = {
  broadcastId: 'brd_1',
  contactId: 'ct_1',
  state: 'delivered',
  emailId: 'em_1',
  address: 'a@dest.test',
};

function receipt(change: Partial<Receipt> = {}): Receipt {
  const once = {
    recipient: ROW.address,
    mailFrom: '',
    header: '',
    messageId: '<em_1@sender.test>',
    sha256: 'bytes',
    attachments: [],
  };
  return { ...once, life: 0, atMs: 1_000, ...change };
}

const compare = (receipts: Receipt[]) => compareReceipts([ROW], receipts, [1_100, 9_000]);

test('a copy that arrived once is in order, and one that is missing is lost', () => {
  assert.deepEqual(compare([receipt()]), { received: 1, duplicates: 0, maxDuplicatesOfAnEnd: 0, faults: [] });
  assert.deepEqual(compare([]).faults, ['lost: 1']);
});

test('a second arrival after an end that found the first in doubt is counted, any other is a fault', () => {
  const again = compare([receipt(), receipt({ life: 1, atMs: 2_000 })]);
  assert.deepEqual([again.duplicates, again.maxDuplicatesOfAnEnd, again.faults], [1, 1, []]);
  assert.deepEqual(compare([receipt(), receipt({ atMs: 1_050 })]).faults, ['unexplained: 1']);
  const late = compare([receipt({ life: 1, atMs: 2_000 }), receipt({ life: 2, atMs: 10_000 })]);
  assert.deepEqual(late.faults, ['unexplained: 1'], 'it was settled long before the end');
});

test('other bytes, another recipient, and mail that no ledger knows are faults', () => {
  assert.deepEqual(compare([receipt(), receipt({ life: 1, sha256: 'others' })]).faults, ['changed: 1']);
  assert.deepEqual(compare([receipt({ recipient: 'b@dest.test' })]).faults, ['misdirected: 1']);
  assert.deepEqual(compare([receipt(), receipt({ messageId: '<em_2@sender.test>' })]).faults, [
    'strangers: 1',
  ]);
});
