/**
 * Answers from memory what each RCPT and each message ask the database: which tenant receives the mail of a domain, which routes and
 * mailboxes it has, whether it and its mailboxes may store more, and which scripts a mailbox has. A query instead would read its pages again
 * after each message that is committed.
 */
import type { App } from '../app.ts';
import { AnswerCache } from '../db/answer-cache.ts';
import type { ReceivedRecipientRow } from '../db/inbound-tables.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import type { DomainRow } from '../db/tables.ts';
import type { TenantStatus } from '../db/tenant-tables.ts';
import { UpperBounds } from '../db/upper-bounds.ts';
import { findReceiver, stillReceives } from '../domains/receiving/store.ts';
import { type AddressOwner, mapAddresses } from '../mailboxes/addresses/store.ts';
import {
  type MailboxScripts,
  SCRIPT_TABLES,
  scriptsOf,
  sizeOfScripts,
} from '../mailboxes/scripts/of-mailbox.ts';
import { findMailboxById } from '../mailboxes/store.ts';
import { mapRoutes, type RouteId } from '../routes/store.ts';
import { findTenantStatus } from '../tenants/store.ts';
import { createTenantQuota, type TenantQuota } from '../tenants/stored-mail/quota.ts';
import { readWaitingBytes } from './store.ts';

type Refusal = { code: 450 | 452 | 550; status: string; text: string };

type MailboxId = MailboxRow['id'];

type MailboxQuota = {
  /**
   * Returns true when a message fits into the quota of a mailbox together with what waits for it. What the mailbox has stored in the last
   * seconds may not be counted yet, so it can exceed its quota a little.
   */
  isWithinQuota(
    mailbox: Pick<MailboxRow, 'id' | 'usedBytes' | 'quotaBytes'>,
    sizeBytes: number,
  ): Promise<boolean>;
  /** Takes a message into account that waits for a mailbox from now on. */
  noteWaiting(mailboxId: MailboxId, sizeBytes: number): void;
};

/** Maximum number of mailboxes that are cached: a few MB. */
const MAX_MAILBOXES = 10_000;

type TenantId = DomainRow['tenantId'];
type Receiver = NonNullable<Awaited<ReturnType<typeof findReceiver>>>;

export type Directory = TenantQuota &
  MailboxQuota & {
    /** Returns the domain that receives mail for the name, which is in lower case and A-labels. */
    findReceiver(name: string): Promise<Receiver | undefined>;
    /** Returns true for a tenant that is being deleted, for which nothing is received any more. */
    isDeleting(tenantId: TenantId): Promise<boolean>;
    /** Returns the enabled route of the tenant for exactly this address, which is in lower case. */
    findRoute(tenantId: TenantId, address: string): Promise<RouteId | undefined>;
    /** Returns the mailbox of any tenant that has this address at the domain, as its own or as an alias. Both are in lower case. */
    findMailbox(domain: string, address: string): Promise<AddressOwner | undefined>;
    /** Returns the scripts that run when mail is delivered to a mailbox. */
    scriptsOf(mailboxId: MailboxRow['id']): Promise<MailboxScripts>;
  };

/** Maximum number of names whose receivers are cached: a few MB. */
const MAX_KEPT_NAMES = 10_000;
/** Maximum number of routes that are cached. They take about 20 MB. */
const MAX_KEPT_ROUTES = 100_000;
/** Maximum number of addresses of mailboxes that are cached. They take about 20 MB. */
const MAX_KEPT_ADDRESSES = 100_000;
/** Maximum number of characters of the scripts of mailboxes that are cached. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;
/** Size of a mailbox without scripts, in characters: what its entry takes. */
const ENTRY_CHARACTERS = 200;

/** Returns a directory without answers. */
export function createDirectory({ db, clock }: Pick<App, 'db' | 'clock'>): Directory {
  const { changes, read } = db;
  const receivers = new AnswerCache<string, Receiver | undefined>({
    changes,
    tables: ['domains'],
    maxSize: MAX_KEPT_NAMES,
    sizeOf: () => 1,
  });
  const routes = new AnswerCache<TenantId, ReadonlyMap<string, RouteId>>({
    changes,
    tables: ['inboundRoutes'],
    maxSize: MAX_KEPT_ROUTES,
    sizeOf: ({ size }) => size + 1,
  });
  const addresses = new AnswerCache<string, ReadonlyMap<string, AddressOwner>>({
    changes,
    tables: ['mailboxes', 'mailboxAliases'],
    maxSize: MAX_KEPT_ADDRESSES,
    sizeOf: ({ size }) => size + 1,
  });
  const statuses = new AnswerCache<TenantId, TenantStatus | undefined>({
    changes,
    tables: ['tenants'],
    maxSize: MAX_KEPT_NAMES,
    sizeOf: () => 1,
  });
  const scripts = new AnswerCache<MailboxRow['id'], MailboxScripts>({
    changes,
    tables: SCRIPT_TABLES,
    maxSize: MAX_KEPT_CHARACTERS,
    sizeOf: (answer) => sizeOfScripts(answer) + ENTRY_CHARACTERS,
  });
  return {
    async findReceiver(name) {
      const now = clock.now();
      const receiver = await receivers.get(name, () => findReceiver(read, name, now));
      // A grace period ends without a change of the row.
      return receiver && stillReceives(receiver, now) ? receiver : receiver && findReceiver(read, name, now);
    },
    isDeleting: async (tenantId) =>
      (await statuses.get(tenantId, () => findTenantStatus(read, tenantId))) === 'deleting',
    async findRoute(tenantId, address) {
      const known = await routes.get(tenantId, () => mapRoutes(read, tenantId));
      return known.get(address);
    },
    async findMailbox(domain, address) {
      const known = await addresses.get(domain, () => mapAddresses(read, domain));
      return known.get(address);
    },
    scriptsOf: (mailboxId) => scripts.get(mailboxId, () => scriptsOf(read, mailboxId)),
    ...createTenantQuota(db),
    ...createMailboxQuota(db),
  };
}

/**
 * Returns the check, which knows no mailbox yet. It answers mostly from memory: a mailbox to which mail comes faster
 * than it is delivered would otherwise have all that waits added up for each message.
 */
function createMailboxQuota({ read }: { read: Tx }): MailboxQuota {
  const waiting = new UpperBounds<MailboxId>((id) => readWaitingBytes(read, id), MAX_MAILBOXES);
  return {
    isWithinQuota: ({ id, usedBytes, quotaBytes }, sizeBytes) =>
      waiting.doesFit(id, (waitingBytes) => {
        const bytes = usedBytes + waitingBytes;
        return bytes < quotaBytes && bytes + sizeBytes <= quotaBytes;
      }),
    noteWaiting: (mailboxId, sizeBytes) => waiting.add(mailboxId, sizeBytes),
  };
}

/**
 * Returns the refusal of a recipient that is a mailbox; undefined when it takes the message, and for other
 * recipients. A message whose size the client has not declared counts as empty. A full mailbox is refused here alone:
 * its quota is not compared again when the message is delivered.
 */
export async function refusalOfMailbox(
  { db: { read }, directory }: { db: { read: Tx }; directory: Pick<MailboxQuota, 'isWithinQuota'> },
  { kind, targetId }: Pick<ReceivedRecipientRow, 'kind' | 'targetId'>,
  sizeBytes = 0,
): Promise<Refusal | undefined> {
  if (kind !== 'mailbox') return undefined;
  const mailbox = await findMailboxById(read, targetId as MailboxRow['id']);
  if (!mailbox) return { code: 550, status: '5.1.1', text: 'there is no such recipient here' };
  // A suspension can end, so the client keeps the message and tries again (RFC 3463 section 3.3).
  if (mailbox.status === 'suspended')
    return { code: 450, status: '4.2.1', text: 'the mailbox takes no mail at the moment' };
  if (await directory.isWithinQuota(mailbox, sizeBytes)) return undefined;
  return { code: 452, status: '4.2.2', text: 'the mailbox is full' };
}
