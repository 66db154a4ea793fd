import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { findMailPart, getMail } from '../../src/queue/mail-store.ts';
import { explain } from '../support/explain.ts';
import { openSpool } from '../support/spool.ts';

const spool = await openSpool();
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
    const mail = await findMailPart(spool.app.db.read, id, part);
    assert.deepEqual(mail, { message, recipients: [own], others: [{ state: 'in_flight', attempts: 1 }] });
  }
});

test('a message to a few recipients is read with one query, and gives the same part', async () => {
  const id = await spool.accept(Array.from({ length: 16 }, (_, index) => `bob@d${index}.example`));
  await spool.claim();
  const { message, recipients } = await getMail(spool.app.db.read, id);
  const [own, ...others] = recipients;
  assert.ok(own);
  for (const part of [
    { by: 'id', names: [own.id] },
    { by: 'queue', names: [own.queue] },
  ] as const)
    assert.deepEqual(await findMailPart(spool.app.db.read, id, part), {
      message,
      recipients: [own],
      others,
    });
  const whole = { by: 'id', names: recipients.map((recipient) => recipient.id) } as const;
  assert.deepEqual(await findMailPart(spool.app.db.read, id, whole), { message, recipients, others: [] });
});

test('the recipients of a part are found by their message, however many wait in the queue', async () => {
  const id = await spool.accept(Array.from({ length: 17 }, (_, index) => `eve@d${index}.example`));
  const { message, recipients } = await getMail(spool.app.db.read, id);
  const { returnPathHost: _, ...row } = message;
  for (const by of ['id', 'queue'] as const) {
    const plan = await explain(async (tx) => {
      await tx.insertInto('messages').values(row).execute();
      await tx.insertInto('recipients').values(recipients).execute();
      await findMailPart(tx, id, { by, names: [] });
    });
    const reads = plan.filter((step) => /(SEARCH|SCAN) recipients/.test(step));
    assert.equal(reads.length, 3, 'the first recipients, the part, and the states of the others');
    for (const step of reads) assert.match(step, /USING INDEX recipientsByMessage/);
  }
});
