/**
 * Lists everything that a tenant owns, in the order in which it is deleted: each table before those that its rows name. A table whose rows
 * only have to disappear is deleted by its name; what has files, tasks or sessions is deleted by the store that knows of them. A test compares
 * the list with all tables of the database.
 */
import { sql } from 'kysely';
import type { Tx } from '../db/operation.ts';
import { endDomainsOf, leaveDomainsOf } from '../domains/tenant-domains-store.ts';
import { cancelQueued } from '../queue/cancel-queued.ts';
import { type ErasedMail, eraseJob, eraseMessages, eraseReceived } from './erase-mail-store.ts';
import {
  eraseCertificates,
  eraseContents,
  eraseMailboxes,
  eraseMembers,
  eraseTasks,
  partsIn,
} from './erase-parts-store.ts';
import {
  type EraseSlice,
  eraseChildren,
  erasedUpTo,
  eraseIndexed,
  eraseScanned,
  MORE,
  type TableName,
} from './erase-store.ts';

type Erase = (tx: Tx, slice: EraseSlice & { now: number }) => Promise<ErasedMail>;

/** A step of a deletion. A table can need several. */
type Owned = { tables: readonly TableName[]; erase: Erase };

const indexed = (table: TableName): Owned => ({
  tables: [table],
  erase: (tx, slice) => eraseIndexed(tx, table, slice),
});
const scanned = (table: TableName): Owned => ({
  tables: [table],
  erase: (tx, slice) => eraseScanned(tx, table, slice),
});
const children = (parent: TableName, child: TableName, column: string): Owned => ({
  tables: [child],
  erase: (tx, slice) => eraseChildren(tx, { parent, child, column }, slice),
});

export const OWNED: readonly Owned[] = [
  // Background work ends first, and nothing is received or verified for the domains any more.
  { tables: ['tasks'], erase: eraseTasks },
  {
    tables: ['trackingHosts'],
    async erase(tx, slice) {
      const { tenantId, now } = slice;
      const limit = partsIn(slice);
      return erasedUpTo(limit, await endDomainsOf(tx, { tenantId, now, limit }));
    },
  },
  indexed('inboundRoutes'),
  {
    tables: [
      'messages',
      'conversations',
      'recipients',
      'attempts',
      'emails',
      'engagements',
      'firstEngagements',
      'submittedMessages',
      'failureNotifications',
      'contents',
      'blobs',
    ],
    erase: eraseMessages,
  },
  {
    tables: [],
    async erase(tx, { tenantId, now, rows }) {
      const { canceled, isSending } = await cancelQueued(tx, { tenantId, now, rows });
      return { deleted: canceled, next: canceled > 0 ? MORE : undefined, isWaiting: isSending };
    },
  },
  indexed('emailAddresses'),
  indexed('emailTags'),
  indexed('approvals'),
  indexed('idempotency'),
  children('webhookEndpoints', 'webhookDeliveries', 'endpointId'),
  children('webhookEndpoints', 'webhookReplays', 'endpointId'),
  indexed('webhookEndpoints'),
  children('broadcasts', 'broadcastRecipients', 'broadcastId'),
  children('broadcasts', 'broadcastEngagements', 'broadcastId'),
  children('broadcasts', 'broadcastLinks', 'broadcastId'),
  children('broadcasts', 'trackedLinks', 'ownerId'),
  children('broadcasts', 'broadcastCounts', 'broadcastId'),
  { tables: ['contents'], erase: eraseContents },
  children('broadcasts', 'broadcastRuns', 'broadcastId'),
  indexed('broadcasts'),
  { tables: ['jobs', 'jobErrors', 'blobs'], erase: eraseJob },
  children('audiences', 'contactActivity', 'audienceId'),
  indexed('contacts'),
  indexed('contactChoices'),
  scanned('confirmationRequests'),
  indexed('confirmations'),
  indexed('segments'),
  indexed('audiences'),
  children('templates', 'templateVersions', 'templateId'),
  children('templates', 'templateTexts', 'templateId'),
  indexed('templates'),
  indexed('topics'),
  indexed('brandings'),
  indexed('suppressions'),
  indexed('bounceEvidence'),
  {
    tables: ['receivedMessages', 'receivedRecipients', 'receivedTasks', 'deliveryPlans', 'blobs'],
    erase: eraseReceived,
  },
  {
    // Rows of the others go with those of the mailboxes.
    tables: [
      'mailboxes',
      'mailboxAliases',
      'mailboxScripts',
      'scriptMemories',
      'mailboxFilters',
      'mailboxMembers',
      'appPasswords',
      'mailboxImports',
      'mailboxImportErrors',
      'mailboxImportFolders',
      'dashboardSessions',
      'mailboxRecoveries',
      'correspondents',
      'unsentMail',
      'recipientCounts',
    ],
    erase: eraseMailboxes,
  },
  indexed('receivedReports'),
  scanned('queueActions'),
  scanned('siteRestrictions'),
  scanned('ruleMatches'),
  scanned('outboundRoutes'),
  { tables: ['acmeCertificates'], erase: eraseCertificates },
  scanned('acmeOrders'),
  {
    // Those about emails are gone with them. The index of the others has no tenant.
    tables: ['events'],
    erase: (tx, slice) => eraseScanned(tx, 'events', { ...slice, where: sql`"emailId" IS NULL` }),
  },
  indexed('counts'),
  indexed('usage'),
  indexed('simulatorReplies'),
  indexed('requestLog'),
  indexed('storedMail'),
  { tables: ['memberships'], erase: eraseMembers },
  indexed('loginLinks'),
  indexed('apiKeys'),
  {
    tables: ['domains', 'domainKeys'],
    async erase(tx, slice) {
      const { tenantId, now } = slice;
      const limit = partsIn(slice);
      return erasedUpTo(limit, await leaveDomainsOf(tx, { tenantId, now, limit }));
    },
  },
  // Events that came before the end of the webhooks may have made tasks since.
  { tables: ['tasks'], erase: eraseTasks },
];
