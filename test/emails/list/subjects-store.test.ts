/** The subjects of the newest emails are searched, as many as a search may read. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { searchSubjects } from '../../../src/emails/list/subjects-store.ts';
import { explain } from '../../support/explain.ts';
import { openSpool } from '../../support/spool.ts';

const DAY_MS = 86_400_000;
const spool = await openSpool();
after(() => spool.close());
const stranger = await spool.addTenant('stranger');

async function search(query: string, key = spool.liveKey) {
  const headers = { authorization: `Bearer ${key}` };
  return (await spool.inject({ url: `/v1/emails/subjects?${query}`, headers })).json();
}
const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

const old = await spool.accept('bob@rcpt.example', { subject: 'Rechnung of last week' });
await spool.clock.advance(8 * DAY_MS);
const first = await spool.accept('bob@rcpt.example', { subject: 'Ihre RECHNUNG über Äpfel' });
await spool.clock.advance(1);
const second = await spool.accept('bob@rcpt.example', { subject: 'rechnung 100 %' });

test('a part of the subject finds the newest emails within the days, whatever the case of its letters is', async () => {
  const found = await search('text=Rechnung');
  assert.deepEqual(idsOf(found), [second, first]);
  assert.deepEqual([found.examined, found.isComplete], [2, true]);
  assert.deepEqual(idsOf(await search('text=%C3%A4PFEL')), [first]);
  assert.deepEqual(idsOf(await search('text=%25')), [second]);
  assert.deepEqual(idsOf(await search('text=rechnung&days=30')), [second, first, old]);
  assert.deepEqual(idsOf(await search('text=rechnung&limit=1')), [second]);
});

test('nobody finds the subjects of others, of the other mode, or of another domain', async () => {
  assert.deepEqual(idsOf(await search('text=rechnung', stranger.liveKey)), []);
  assert.deepEqual(idsOf(await search('text=rechnung', spool.testKey)), []);
  await spool.addDomain(spool.liveKey, 'other.example');
  const [domain] = await spool.app.db.read
    .selectFrom('domains')
    .select('id')
    .where('name', '=', 'other.example')
    .execute();
  const limited = await spool.newKey({ mode: 'live', domainId: domain?.id ?? null });
  assert.deepEqual(idsOf(await search('text=rechnung', limited)), []);
});

test('a search reads an index in its order, and a bounded number of rows', async () => {
  const owner = { tenantId: spool.tenantId, mode: 'live', domainId: null } as const;
  const plan = await explain((tx) =>
    searchSubjects.run(tx, { ...owner, text: 'x', days: 7, limit: 5, now: 0 }),
  );
  assert.match(plan.join('\n'), /SEARCH emails USING INDEX emailsByTenant/);
  assert.doesNotMatch(plan.join('\n'), /TEMP B-TREE|SCAN/);
});

test('an email is found by its Message-ID, its own and one of others, with and without angle brackets', async () => {
  const list = async (messageId: string, key = spool.liveKey) => {
    const headers = { authorization: `Bearer ${key}` };
    const url = `/v1/emails?${new URLSearchParams({ messageId })}`;
    return idsOf((await spool.inject({ url, headers })).json());
  };
  const { messageId } = await spool.email(first);
  assert.deepEqual(await list(messageId), [first]);
  assert.deepEqual(await list(messageId.slice(1, -1)), [first]);
  assert.deepEqual(await list(messageId.replace('@', '@x.')), []);
  assert.deepEqual(await list(messageId, stranger.liveKey), []);
  assert.deepEqual(await list('<nobody@rcpt.example>'), []);
  // A client that submits by SMTP makes its own Message-IDs.
  const side = openWriting(join(spool.dataDir, 'postrider.db'), 'NORMAL');
  side.prepare('UPDATE emails SET rfcMessageId = ? WHERE id = ?').run('made.by@client.example', second);
  side.close();
  assert.deepEqual(await list('<made.by@client.example>'), [second]);
});
