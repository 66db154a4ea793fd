/**
 * How many of a resource a tenant may have: the last one is accepted, one more is refused until another is deleted, and
 * other tenants have as many of their own.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { SANDBOX } from './emails/fixtures.ts';
import { openTestApp } from './support/test-app.ts';

const world = await openTestApp();
after(() => world.close());

type Party = Pick<typeof world, 'tenantId' | 'testKey'>;
type Limit = {
  /** Path of the list. A function returns that of a party, whose parent resource it creates when there is none. */
  path: string | ((party: Party) => Promise<string>);
  table: string;
  max: number;
  /** How the refusal names them; what the tables call them unless it is given. */
  noun?: string;
  /** A body that is accepted once for each number. */
  body(number: number, party: Party): object | Promise<object>;
  /** Columns in which rows must differ. */
  unique?: (number: number) => Record<string, string>;
};

const filter = { op: 'and', rules: [{ field: 'unsubscribed', cmp: 'eq', value: false }] };

async function audienceOf({ testKey: key }: Party): Promise<string> {
  const { body } = await world.request('GET', '/v1/audiences', { key });
  const [audience] = body.data;
  if (audience) return audience.id;
  return (await world.request('POST', '/v1/audiences', { key, body: { name: 'a' } })).body.id;
}

async function mailboxOf({ testKey: key, tenantId }: Party): Promise<string> {
  const address = `${tenantId}@${SANDBOX}`;
  const { body } = await world.request('GET', `/v1/mailboxes?address=${address}`, { key });
  const [mailbox] = body.data;
  if (mailbox) return mailbox.id;
  const wanted = { address, password: 'correct horse' };
  return (await world.request('POST', '/v1/mailboxes', { key, body: wanted })).body.id;
}

const LIMITS: readonly Limit[] = [
  { path: '/v1/topics', table: 'topics', max: 100, body: () => ({ name: 'a' }) },
  { path: '/v1/audiences', table: 'audiences', max: 1_000, body: () => ({ name: 'a' }) },
  {
    ...{ path: '/v1/segments', table: 'segments', max: 1_000 },
    body: async (_, party) => ({ name: 'a', audienceId: await audienceOf(party), filter }),
  },
  {
    ...{ path: '/v1/templates', table: 'templates', max: 10_000 },
    body: () => ({ name: 'a', subject: 's', html: 'h' }),
  },
  {
    ...{ path: '/v1/domains', table: 'domains', max: 1_000 },
    body: (number) => ({ name: `d${number}.example` }),
    unique: (number) => ({ name: `row${number}.example` }),
  },
  {
    ...{ path: '/v1/inbound/routes', table: 'inboundRoutes', max: 1_000, noun: 'inbound routes' },
    body: (number, { tenantId }) => ({
      address: `${tenantId}.${number}@${SANDBOX}`,
      destination: 'https://a.example/',
    }),
    unique: (number) => ({ address: `${number}@row.example` }),
  },
  {
    ...{ path: '/v1/mailboxes', table: 'mailboxes', max: 10_000 },
    body: (number) => ({ address: `${number}@${SANDBOX}`, password: 'correct horse' }),
    unique: (number) => ({ address: `${number}@row.example` }),
  },
  {
    path: async (party) => `/v1/mailboxes/${await mailboxOf(party)}/app-passwords`,
    ...{ table: 'appPasswords', max: 50, noun: 'app passwords for this mailbox' },
    body: () => ({ name: 'a' }),
  },
  {
    path: async (party) => `/v1/mailboxes/${await mailboxOf(party)}/imports`,
    ...{ table: 'mailboxImports', max: 50, noun: 'imports for this mailbox' },
    body: () => ({ host: 'imap.example.com', user: 'a', password: 'b' }),
  },
  {
    ...{ path: '/v1/webhooks', table: 'webhookEndpoints', max: 50 },
    noun: 'webhook endpoints (live and test together)',
    body: () => ({ url: 'https://a.example/', events: ['email.sent'] }),
    unique: (number) => ({ mode: number % 2 ? 'live' : 'test' }),
  },
];

/** Copies the row with this id until the tenant has `count` of them. One request for each would take seconds. */
function copyRow({ table, unique }: Limit, id: string, count: number): void {
  const database = new Sqlite(join(world.dataDir, 'postrider.db'));
  const row = database.prepare(`SELECT * FROM ${table} WHERE id = ?`).get(id) as Record<string, unknown>;
  const columns = Object.keys(row);
  const values = columns.map((name) => `@${name}`);
  const insert = database.prepare(`INSERT INTO ${table} (${columns}) VALUES (${values})`);
  database.transaction(() => {
    for (let number = 1; number < count; number++)
      insert.run({ ...row, id: `${id.slice(0, -5)}${`${number}`.padStart(5, '0')}`, ...unique?.(number) });
  })();
  database.close();
}

for (const limit of LIMITS) {
  const { path, table, max, noun = table } = limit;
  test(`a tenant has at most ${max} ${noun}, deleted ones not counted, another its own`, async () => {
    const collector = await world.addTenant(`collector of ${table}`);
    const pathOf = async (party: Party) => (typeof path === 'string' ? path : await path(party));
    let number = 0;
    const create = async (party: Party = collector) => {
      number += 1;
      const body = await limit.body(number, party);
      return world.request('POST', await pathOf(party), { key: party.testKey, body });
    };
    const first = await create();
    copyRow(limit, first.body.id, max - 1);
    assert.equal((await create()).status, 201, 'the last one');
    const { status, body } = await create();
    const { type, param, message } = body.error;
    assert.deepEqual([status, type, param], [400, 'validation_error', undefined]);
    assert.ok(message.startsWith(`You have ${max} ${noun}`), message);
    assert.equal((await create(world)).status, 201, 'another tenant');
    const deleted = await world.request('DELETE', `${await pathOf(collector)}/${first.body.id}`, {
      key: collector.testKey,
    });
    assert.equal(deleted.status, 204);
    const both = await Promise.all([create(), create()]);
    assert.deepEqual(both.map((answer) => answer.status).sort(), [201, 400], 'one place is free');
  });
}
