/** SQLite leaves a partial index unused, and says nothing, when a query does not repeat its condition. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Sqlite from 'better-sqlite3';
import { listContacts } from '../../src/audiences/contacts/store.ts';
import { findUnconfirmed } from '../../src/audiences/opt-in/unconfirmed-store.ts';
import { findDeletedAudience, insertAudience, listAudiences } from '../../src/audiences/store.ts';
import { isFileInUse } from '../../src/blobs/store.ts';
import { MAIN_SCHEMA } from '../../src/db/main-schema.ts';
import { migrate } from '../../src/db/migrate.ts';
import type { Tx } from '../../src/db/operation.ts';
import { findReceiver } from '../../src/domains/receiving/store.ts';
import { findDomainByName } from '../../src/domains/sending-store.ts';
import { countBroadcasts, countScheduled, listUnneeded } from '../../src/domains/spool-store.ts';
import { listDomains, requireNewDomain } from '../../src/domains/store.ts';
import { readEmailSlice } from '../../src/emails/list/store.ts';
import { expireContent } from '../../src/emails/store.ts';
import { listEventsOfEmail, listEventsToFanOut, markFannedOut } from '../../src/events/store.ts';
import { expireReceivedContent, listReceivedSizes } from '../../src/inbound/store.ts';
import {
  countFailingTasks,
  countPendingTasks,
  findPostWaitingSince,
} from '../../src/inbound/tasks/read-store.ts';
import { sweepJobs } from '../../src/jobs/store.ts';
import { readWaitingBytes } from '../../src/mailbox-delivery/store.ts';
import { sweepImports } from '../../src/mailbox-imports/store.ts';
import { listAppPasswordsOfMember } from '../../src/mailboxes/app-passwords/store.ts';
import { findActiveScript } from '../../src/mailboxes/scripts/store.ts';
import { deleteUnusedContent } from '../../src/queue/contents/store.ts';
import { listInForce } from '../../src/queue/control/store.ts';
import { cancelMailOf } from '../../src/queue/state/cancel-submitted.ts';
import { readReceivedPart } from '../../src/routes/messages/store.ts';
import { countTasks } from '../../src/tasks/read-store.ts';
import { findWaitingQueue, leaseTasks as leaseAll, listLeased } from '../../src/tasks/store.ts';
import { listKeysOfMailbox } from '../../src/tenants/mailbox-keys-store.ts';
import { insertApiKey, insertTenant, listInactiveTenants, listKeysInUse } from '../../src/tenants/store.ts';
import { findNextClassificationAt, listDueEngagements } from '../../src/tracking/classification/store.ts';
import { forgetPreviousSecrets } from '../../src/webhooks/store.ts';
import { storeBareKey } from '../emails/fixtures.ts';
import { explain } from '../support/explain.ts';

const tenantId = 'ten_1';
const apiKey = {
  id: 'key_1',
  tenantId,
  name: '',
  mode: 'live',
  permission: 'full_access',
  domainId: null,
  allowedIps: null,
  hint: '',
  tokenHash: '',
  createdAt: 0,
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  requiresApproval: null,
  mailboxId: null,
  memberId: null,
} as const;

const audience = {
  id: 'aud_1',
  tenantId,
  name: '',
  contactCount: 0,
  createdAt: 0,
  updatedAt: 0,
  deletedAt: null,
  optIn: null,
} as const;

/** Each index with the queries it was made for. Those of `recipients` are tested beside the queue that reads them. */
const QUERIES: Record<string, readonly ((tx: Tx) => Promise<unknown>)[]> = {
  queueActionsInForce: [listInForce],
  domainsByName: [
    (tx) => findDomainByName(tx, tenantId, 'a.example'),
    (tx) => requireNewDomain(tx, tenantId, 'a.example'),
    (tx) => listDomains(tx, { tenantId, domainId: null }, { limit: 10, name: 'a.example' }),
  ],
  domainsByTenant: [
    (tx) => listDomains(tx, { tenantId, domainId: null }, { limit: 10 }),
    (tx) => listDomains(tx, { tenantId, domainId: null }, { limit: 10, startingAfter: 'dom_1' }),
    (tx) => listDomains(tx, { tenantId, domainId: null }, { limit: 10, endingBefore: 'dom_1' }),
    (tx) => listDomains(tx, { tenantId, domainId: null }, { limit: 10, status: 'failed' }),
  ],
  tenantsInactive: [listInactiveTenants],
  apiKeysInUse: [(tx) => listKeysInUse(tx, { tenantId, mode: 'live' }, { limit: 10 })],
  apiKeysByExpiry: [
    async (tx) => {
      await insertTenant.run(tx, { id: tenantId, name: '', plan: 'free', createdAt: 0 });
      await insertApiKey.run(tx, apiKey);
    },
  ],
  apiKeysByMailbox: [(tx) => listKeysOfMailbox(tx, 'mbx_1')],
  appPasswordsByMember: [(tx) => listAppPasswordsOfMember(tx, 'mbx_1')],
  mailboxImportsByEnd: [(tx) => sweepImports.run(tx, { before: 1 })],
  mailboxScriptsActive: [(tx) => findActiveScript(tx, 'mbx_1')],
  messagesOfMailboxes: [(tx) => cancelMailOf(tx, { mailboxId: 'mbx_1', now: 1 })],
  domainsReceiving: [(tx) => findReceiver(tx, 'a.example', 1)],
  domainsDeleted: [(tx) => listUnneeded.run(tx, { deletedBefore: 1 })],
  audiencesByTenant: [
    (tx) => listAudiences(tx, tenantId, { limit: 10 }),
    (tx) => listAudiences(tx, tenantId, { limit: 10, startingAfter: 'aud_1' }),
    (tx) => listAudiences(tx, tenantId, { limit: 10, endingBefore: 'aud_1' }),
    (tx) => insertAudience.run(tx, audience),
  ],
  audiencesDeleted: [findDeletedAudience],
  contactsPending: [(tx) => findUnconfirmed(tx, tenantId, ['a@b.example'])],
  contactsPendingByAudience: [
    (tx) => listContacts(tx, tenantId, { audienceId: 'aud_1', status: 'pending', limit: 10 }),
  ],
  jobsEnded: [(tx) => sweepJobs.run(tx, { before: 1 })],
  broadcastRunsByDomain: [(tx) => countBroadcasts(tx, 'dom_1')],
  messagesScheduled: [(tx) => countScheduled.run(tx, { domainId: 'dom_1', now: 1 })],
  emailsWithContent: [
    (tx) => expireContent.run(tx, { now: 1, endedBy: 1, after: '', before: 'z', rows: 50 }),
  ],
  broadcastRunsByContent: [(tx) => deleteUnusedContent(tx, 1)],
  blobsBySha256: [(tx) => isFileInUse(tx, 'ab')],
  engagementsDue: [findNextClassificationAt, (tx) => listDueEngagements.run(tx, { now: 1, limit: 10 })],
  eventsToFanOut: [(tx) => listEventsToFanOut(tx, 10), (tx) => markFannedOut(tx, 'evt_1')],
  // SQLite makes this query when a blob is deleted.
  messagesByBlob: [(tx) => tx.selectFrom('messages').select('id').where('blobId', '=', 'blob_1').execute()],
  messagesByContent: [(tx) => deleteUnusedContent(tx, 1)],
  receivedMessagesWithContent: [(tx) => expireReceivedContent.run(tx, { now: 1, endedBy: 1, rows: 2 })],
  emailsByMessageId: [
    (tx) => {
      const bounds = { cursor: undefined, from: undefined, until: undefined };
      const slice = { ...bounds, direction: 'older', limit: 10 } as const;
      const owner = { tenantId, mode: 'live', domainId: null } as const;
      return readEmailSlice(tx, { ...owner, filter: { messageId: 'a@b.example' } }, { slice, scan: 10 });
    },
  ],
  emailsByApiKey: [
    async (tx) => {
      await storeBareKey(tx, { id: 'key_1', tenantId, mode: 'live' });
      const slice = {
        cursor: undefined,
        from: undefined,
        until: undefined,
        direction: 'older',
        limit: 10,
      } as const;
      const owner = { tenantId, mode: 'live', domainId: null } as const;
      return readEmailSlice(tx, { ...owner, filter: { apiKeyId: 'key_1' } }, { slice, scan: 10 });
    },
  ],
  eventsByEmail: [(tx) => listEventsOfEmail(tx, 'em_1')],
  receivedMessagesByMessageId: [
    (tx) => {
      const bounds = { cursor: undefined, from: undefined, until: undefined };
      const slice = { ...bounds, direction: 'older', limit: 10 } as const;
      const reach = { tenantId, domainId: null } as const;
      const filter = { messageId: 'a@b.example' };
      return readReceivedPart(tx, { tenantId, reach, filter }, { slice, scan: 10 });
    },
  ],
  receivedRecipientsByTarget: [
    (tx) => listReceivedSizes(tx, { targetId: 'em_1' }, 10),
    (tx) => {
      const bounds = { cursor: undefined, from: undefined, until: undefined };
      const slice = { ...bounds, direction: 'older', limit: 10 } as const;
      return readReceivedPart(tx, { tenantId: undefined, filter: { routeId: 'rt_1' } }, { slice, scan: 10 });
    },
  ],
  // SQLite makes this query when a blob is deleted.
  receivedMessagesByBlob: [
    (tx) => tx.selectFrom('receivedMessages').select('id').where('blobId', '=', 'blob_1').execute(),
  ],
  receivedTasksOpen: [
    (tx) => readWaitingBytes(tx, 'mbx_1'),
    (tx) => findPostWaitingSince(tx, 'rt_1'),
    (tx) => countFailingTasks(tx, { queue: 'rt_1', after: 'tsk_1', before: 'tsk_2', limit: 1 }),
    (tx) => countPendingTasks.run(tx, undefined),
  ],
  webhookEndpointsRotating: [(tx) => forgetPreviousSecrets.run(tx, { now: 1 })],
  tasksByDue: [
    (tx) => findWaitingQueue(tx, { kind: 'imports', queueKey: 'ten_1' }),
    (tx) =>
      leaseAll.run(tx, { kind: 'imports', now: 1, runId: 'e', claims: [{ queueKey: 'ten_1', limit: 1 }] }),
  ],
  tasksByRun: [(tx) => listLeased(tx, { kind: 'imports', limit: 1 })],
  tasksByError: [(tx) => countTasks.run(tx, undefined)],
};

function partialIndexes(): string[] {
  const database = new Sqlite(':memory:');
  migrate(database, 0, MAIN_SCHEMA);
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
