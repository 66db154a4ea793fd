import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ALL_TOPICS } from '../../../src/audiences/choices-store.ts';
import { applyDecision, decide } from '../../../src/audiences/contacts/decide.ts';
import { putContact } from '../../../src/audiences/contacts/store.ts';
import { insertAudience } from '../../../src/audiences/store.ts';
import { newId } from '../../../src/system/ids.ts';
import { insertTenant } from '../../../src/tenants/store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { openMemoryDatabase } from '../../support/memory-database.ts';

const NOW = 1_800_000_000_000;
const { tx, close } = openMemoryDatabase();
after(close);

test('a decision reaches every contact with the address, in writes of a hundred contacts', async () => {
  const tenantId = newId('ten', NOW);
  await insertTenant.run(tx, { id: tenantId, name: 't', plan: 'unlimited', createdAt: NOW });
  for (let index = 0; index < 230; index++) {
    const audienceId = newId('aud', NOW);
    const times = { createdAt: NOW, updatedAt: NOW, deletedAt: null, optIn: null };
    await insertAudience.run(tx, { id: audienceId, tenantId, name: 'a', contactCount: 0, ...times });
    const contact = { id: newId('ct', NOW), tenantId, audienceId, email: 'Ada@rcpt.example', now: NOW };
    await putContact(tx, contact, 'update');
  }
  let writes = 0;
  const commit = async (_write: unknown, input: Parameters<typeof applyDecision.run>[1]) => {
    writes++;
    return applyDecision.run(tx, input);
  };
  const app = { db: { commit }, clock: createFakeClock(NOW), wakeups: { notify() {} } };
  const count = async () =>
    (await tx.selectFrom('contacts').select('id').where('unsubscribed', '=', 1).execute()).length;
  const decideAll = (isSubscribed: boolean) =>
    decide(app as never, { tenantId, address: 'aDA@RCPT.example', choices: { [ALL_TOPICS]: isSubscribed } });
  await decideAll(false);
  assert.deepEqual([await count(), writes], [230, 3]);
  await decideAll(true);
  assert.deepEqual([await count(), writes], [0, 6]);
  assert.deepEqual(await tx.selectFrom('contactChoices').selectAll().execute(), []);
});
