/** How SQLite finds what the background work and a deletion look for: never by reading a whole table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import type { Kysely } from 'kysely';
import { kyselyOn } from '../../src/db/dialect.ts';
import { MAIN_SCHEMA } from '../../src/db/main-schema.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Tables } from '../../src/db/tables.ts';
import { countScheduled, hasMailSignedWith, listUnneeded } from '../../src/domains/spool-store.ts';
import { endDomain, insertDomain } from '../../src/domains/store.ts';
import { domainRow } from './fixtures.ts';

const database = new Sqlite(':memory:');
migrate(database, 0, MAIN_SCHEMA);
database.exec("INSERT INTO tenants VALUES ('ten_a', 'a', 'free', 0, 'active')");

/** The plans of every statement that `run` prepares, one line for each step. */
async function plansOf(run: (db: Kysely<Tables>) => Promise<unknown>): Promise<string[]> {
  const plans: string[] = [];
  const prepare = (source: string) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${source}`);
    const { length } = source.match(/\?/g) ?? [];
    const rows = steps.all(...Array.from({ length }, () => 1)) as { detail: string }[];
    plans.push(...rows.map(({ detail }) => detail));
    return database.prepare(source);
  };
  const spying = new Proxy(database, {
    get: (target, name) => {
      if (name === 'prepare') return prepare;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  await run(kyselyOn(spying));
  assert.ok(plans.length > 0);
  return plans;
}

const scans = (plans: readonly string[]) =>
  plans.filter((step) => /^SCAN (?:messages|recipients|domains)(?! USING (?:COVERING )?INDEX)/.test(step));
const uses = (plans: readonly string[], index: string) =>
  assert.ok(
    plans.some((step) => step.includes(` ${index}`)),
    `${index}: ${plans.join(' | ')}`,
  );

test('scheduled mail of a domain is found by its index, which holds scheduled mail alone', async () => {
  const count = await plansOf((db) => countScheduled.run(db, { domainId: 'dom_a', now: 1 }));
  assert.deepEqual(count, ['SEARCH messages USING INDEX messagesScheduled (domainId=? AND datedAt>?)']);
  const domain = domainRow('ten_a', { id: 'dom_a' });
  await insertDomain(kyselyOn(database), domain);
  const end = await plansOf((db) => endDomain.run(db, { id: domain.id, tenantId: 'ten_a', now: 1 }));
  uses(end, 'messagesScheduled (domainId=? AND datedAt>?)');
  assert.deepEqual(scans(end), []);
});

test('mail that a deleted domain owes is found among open mail, and only when a domain was deleted', async () => {
  database.exec('UPDATE domains SET deletedAt = NULL');
  const nothing = await plansOf((db) => listUnneeded.run(db, { deletedBefore: 10 }));
  assert.ok(!nothing.some((step) => step.includes('recipients')));
  uses(nothing, 'domainsDeleted (deletedAt<?)');
  database.exec('UPDATE domains SET deletedAt = 1');
  const plans = await plansOf((db) => listUnneeded.run(db, { deletedBefore: 10 }));
  for (const index of ['recipientsUntried', 'recipientsPutBack', 'recipientsByState', 'recipientsInFlight'])
    uses(plans, index);
  assert.deepEqual(scans(plans), []);
});

test('mail that was signed with a retired key is found among the attempted mail of its tenant', async () => {
  const signed = { tenantId: 'ten_a', domainId: 'dom_a', selector: 'prabcdefgh' } as const;
  const plans = await plansOf((db) => hasMailSignedWith.run(db, signed));
  for (const index of ['recipientsPutBack', 'recipientsByState', 'recipientsInFlight']) uses(plans, index);
  assert.deepEqual(scans(plans), []);
});
