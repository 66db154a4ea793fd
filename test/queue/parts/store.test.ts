import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withPart } from '../../../src/queue/parts/store.ts';
import { getMail, type SpooledMessage } from '../../../src/queue/store.ts';
import { explain } from '../../support/explain.ts';
import { openSpool, type Spool } from '../../support/spool.ts';

let spool: Spool;
before(async () => {
  spool = await openSpool();
});
after(() => spool.close());

test('a delivery to one of 50 sites reads its own recipient, and the others as one row for each state', async () => {
  const id = await spool.accept(Array.from({ length: 50 }, (_, index) => `ada@d${index}.example`));
  await spool.claim();
  const { message, recipients } = await getMail(spool.app.db.read, id);
  const [own] = recipients;
  assert.ok(own);
  for (const part of [
    { by: 'id', names: [own.id] },
    { by: 'queue', names: [own.queue] },
  ] as const) {
    const mail = await withPart(spool.app.db.read, message, part);
    assert.deepEqual(mail, { message, recipients: [own], others: [{ state: 'in_flight', attempts: 1 }] });
  }
});

test('the recipients of a part are found by their message, however many wait in the queue', async () => {
  const message = { id: 'em_1' } as SpooledMessage;
  for (const by of ['id', 'queue'] as const) {
    const plan = await explain((tx) => withPart(tx, message, { by, names: [] }));
    const reads = plan.filter((step) => step.includes('recipients'));
    assert.equal(reads.length, 2);
    for (const step of reads) assert.match(step, /USING INDEX recipientsByMessage/);
  }
});
