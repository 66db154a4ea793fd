/** Contacts in a database of their own, and which of them a filter finds there. */
import { type Filter, readFilter } from '../../../src/audiences/segments/filter.ts';
import { countIdRange, findIdRange, readSegmentSlice } from '../../../src/audiences/segments/store.ts';
import { newId } from '../../../src/system/ids.ts';
import { openMemoryDatabase } from '../../support/memory-database.ts';
import type { ReferenceContact } from './reference.ts';

export const NOW = Date.parse('2026-06-15T12:00:00.000Z');

const tenantId = newId('ten', NOW);
const audienceId = newId('aud', NOW);

/** Topics of the tenant, with their defaults. */
export type Members = {
  /** Indexes of the contacts that are found, in their order, and how many are counted. */
  find(filter: unknown): Promise<{ found: number[]; counted: number }>;
  close(): void;
};

export function openMembers(
  contacts: readonly ReferenceContact[],
  topicDefaults: ReadonlyMap<string, boolean> = new Map(),
): Members {
  const { database, tx } = openMemoryDatabase();
  database.pragma('foreign_keys = OFF');
  const insertTopic = database.prepare('INSERT INTO topics VALUES (?, ?, ?, NULL, ?, 0, 0)');
  for (const [id, defaultOptIn] of topicDefaults) insertTopic.run(id, tenantId, id, defaultOptIn ? 1 : 0);
  const insert = database.prepare(
    `INSERT INTO contacts (id, tenantId, audienceId, email, address, firstName, lastName, unsubscribed, createdAt,
       updatedAt, topics, properties) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
  );
  const ids = contacts.map((_, index) => newId('ct', NOW + index));
  for (const [index, contact] of contacts.entries()) {
    const { email, firstName, lastName, unsubscribed, createdAt } = contact;
    const json = [JSON.stringify(contact.topics), JSON.stringify(contact.properties)];
    const names = [email, `${index}@a.example`, firstName, lastName, unsubscribed ? 1 : 0, createdAt];
    insert.run(ids[index], tenantId, audienceId, ...names, ...json);
  }
  return {
    async find(given) {
      const filter: Filter = readFilter(given as Filter);
      const slice = { tenantId, audienceId, filter, now: NOW, after: undefined, scan: 10_000 };
      const { contacts: members } = await readSegmentSlice.run(tx, { ...slice, limit: 10_000 });
      const idRange = await findIdRange.run(tx, slice);
      const { count: counted } = idRange ? await countIdRange.run(tx, { ...slice, idRange }) : { count: 0 };
      return { found: members.map(({ id }) => ids.indexOf(id)), counted };
    },
    close: () => database.close(),
  };
}
