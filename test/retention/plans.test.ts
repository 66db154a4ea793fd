/** How SQLite finds what retention deletes: by ids, within the range, and never through the whole history. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { expireCounts } from '../../src/counts/store.ts';
import type { Tx } from '../../src/db/operation.ts';
import { expireContent, expireEmails } from '../../src/emails/store.ts';
import { expireEvents } from '../../src/events/store.ts';
import { expireLedger } from '../../src/ledger/expire.ts';
import { listRowsAfter } from '../../src/ledger/store.ts';
import { expireAttempts } from '../../src/queue/attempts-store.ts';
import { expireConversations } from '../../src/queue/conversation/store.ts';
import { expireRequests } from '../../src/request-log/store.ts';
import { expireEngagements } from '../../src/tracking/engagements/store.ts';
import { expireDeliveries } from '../../src/webhooks/deliveries/store.ts';
import { explain } from '../support/explain.ts';

const range = { after: '', before: 'z', rows: 50 };
const expiry = { ...range, now: 0, endedBy: 0 };

for (const [name, expire, walk] of [
  [
    'content',
    (tx: Tx) => expireContent.run(tx, expiry),
    /^SEARCH emails USING (COVERING )?INDEX emailsWithContent \(id>\? AND id<\?\)$/,
  ],
  [
    'emails',
    (tx: Tx) => expireEmails.run(tx, expiry),
    /^SEARCH emails USING INDEX sqlite_autoindex_emails_1 \(id>\? AND id<\?\)$/,
  ],
  [
    'events',
    (tx: Tx) => expireEvents.run(tx, range),
    /^SEARCH events USING (COVERING )?INDEX sqlite_autoindex_events_1 \(id>\? AND id<\?\)$/,
  ],
  [
    'attempts',
    (tx: Tx) => expireAttempts.run(tx, range),
    /^SEARCH attempts USING (COVERING )?INDEX sqlite_autoindex_attempts_1 \(id>\? AND id<\?\)$/,
  ],
  [
    'conversations',
    (tx: Tx) => expireConversations.run(tx, range),
    /^SEARCH conversations USING (COVERING )?INDEX sqlite_autoindex_conversations_1 \(id>\? AND id<\?\)$/,
  ],
  [
    'engagements',
    (tx: Tx) => expireEngagements.run(tx, { after: '', before: 0, rows: 50 }),
    /^SEARCH engagements USING INTEGER PRIMARY KEY \(rowid>\?\)$/,
  ],
  [
    'counters',
    (tx: Tx) => expireCounts.run(tx, { before: 0, rows: 50 }),
    /^SEARCH counts USING (COVERING )?INDEX countsByStart \(start<\?\)$/,
  ],
  [
    'ledgers',
    (tx: Tx) => expireLedger.run(tx, expiry),
    /^SEARCH run USING INDEX sqlite_autoindex_broadcastRuns_1 \(broadcastId>\? AND broadcastId<\?\)$/,
  ],
  [
    'contacts of a ledger',
    (tx: Tx) => listRowsAfter(tx, { broadcastId: 'brd_1', after: '', limit: 50 }),
    /^SEARCH broadcastRecipients USING PRIMARY KEY \(broadcastId=\? AND contactId>\?\)$/,
  ],
  [
    'requests',
    (tx: Tx) => expireRequests.run(tx, range),
    /^SEARCH requestLog USING PRIMARY KEY \(\(tenantId,mode\)>\(\?,\?\)\)$/,
  ],
  [
    'deliveries',
    (tx: Tx) => expireDeliveries.run(tx, range),
    /^SEARCH webhookDeliveries USING (COVERING )?INDEX sqlite_autoindex_webhookDeliveries_1 \(id>\? AND id<\?\)$/,
  ],
] as const) {
  test(`${name} that expire are found by their ids, and nothing is scanned or sorted`, async () => {
    const plan = await explain(expire);
    assert.ok(
      plan.some((line) => walk.test(line)),
      plan.join('\n'),
    );
    const whole = plan.filter((line) => /^SCAN (?!CONSTANT ROW)|USE TEMP B-TREE/.test(line));
    assert.deepEqual(whole, []);
  });
}

for (const table of ['messages', 'jobs'] as const) {
  test(`a blob is deleted without a scan of ${table}, which may name it`, async () => {
    const plan = await explain((tx) =>
      sql`SELECT 1 FROM ${sql.table(table)} WHERE "blobId" = ${'blob_1'}`.execute(tx),
    );
    assert.match(plan.join('\n'), new RegExp(`^SEARCH ${table} USING COVERING INDEX ${table}ByBlob `));
  });
}
