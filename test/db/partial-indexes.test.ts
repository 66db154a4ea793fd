/** SQLite leaves a partial index unused, and says nothing, when a query does not repeat its condition. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { isFileInUse } from '../../src/blobs/store.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Tx } from '../../src/db/operation.ts';
import {
  countScheduled,
  findDomainByName,
  findNextCheck,
  leaseChecks,
  listDomains,
  listUnneeded,
  requireRoom,
} from '../../src/domains/store.ts';
import { listEventsToFanOut, markFannedOut } from '../../src/events/store.ts';
import { listWaitingEndpoints, releaseAbandoned } from '../../src/webhooks/deliveries/store.ts';
import { leaseDeliveries } from '../../src/webhooks/lease.ts';
import { deleteEndpoint, insertEndpoint } from '../../src/webhooks/store.ts';
import { explain } from '../support/explain.ts';

const tenantId = 'ten_1';
const endpoint = {
  id: 'wh_1',
  tenantId,
  mode: 'live',
  url: 'https://hooks.example/',
  events: '[]',
  description: null,
  status: 'enabled',
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  warnedAt: null,
  secretSealed: '',
  createdAt: 0,
  updatedAt: 0,
} as const;

/** Each index with the queries it was made for. Those of `recipients` are tested beside the queue that reads them. */
const QUERIES: Record<string, readonly ((tx: Tx) => Promise<unknown>)[]> = {
  domainsByName: [
    (tx) => findDomainByName(tx, tenantId, 'a.example'),
    (tx) => requireRoom(tx, tenantId, 'a.example'),
  ],
  domainsByTenant: [
    (tx) => listDomains(tx, tenantId, { limit: 10 }),
    (tx) => listDomains(tx, tenantId, { limit: 10, startingAfter: 'dom_1' }),
    (tx) => listDomains(tx, tenantId, { limit: 10, endingBefore: 'dom_1' }),
  ],
  domainsToCheck: [findNextCheck, (tx) => leaseChecks.run(tx, { now: 1, until: 2, limit: 3 })],
  domainsDeleted: [(tx) => listUnneeded.run(tx, { deletedBefore: 1 })],
  messagesScheduled: [(tx) => countScheduled.run(tx, { domainId: 'dom_1', now: 1 })],
  blobsBySha256: [(tx) => isFileInUse(tx, 'ab')],
  eventsToFanOut: [(tx) => listEventsToFanOut(tx, 10), (tx) => markFannedOut(tx, 'evt_1')],
  webhookDeliveriesPending: [
    listWaitingEndpoints,
    async (tx) => {
      await insertEndpoint.run(tx, endpoint);
      const claims = [{ endpointId: endpoint.id, limit: 3 }];
      await leaseDeliveries.run(tx, { now: 1, until: 2, epoch: 'e', claims });
    },
    async (tx) => {
      await insertEndpoint.run(tx, endpoint);
      await deleteEndpoint.run(tx, { owner: endpoint, id: endpoint.id, now: 1 });
    },
  ],
  webhookDeliveriesLeased: [(tx) => releaseAbandoned.run(tx, { now: 1, epoch: 'e' })],
};

function partialIndexes(): string[] {
  const database = new Sqlite(':memory:');
  migrate(database, 0);
  return database
    .prepare<[], { name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %' AND tbl_name <> 'recipients'",
    )
    .all()
    .map(({ name }) => name);
}

test('every partial index has a query that it was made for', () => {
  assert.deepEqual(partialIndexes().sort(), Object.keys(QUERIES).sort());
});

for (const [index, queries] of Object.entries(QUERIES)) {
  test(`${index} is used`, async () => {
    for (const query of queries) {
      const plan = await explain(query);
      const uses = new RegExp(`USING (COVERING )?INDEX ${index}\\b`);
      assert.ok(
        plan.some((line) => uses.test(line)),
        plan.join('\n'),
      );
    }
  });
}
