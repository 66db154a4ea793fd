/**
 * Answers from memory what each RCPT and each message ask the database: which tenant receives the mail of a domain, which routes and
 * mailboxes it has, whether it and its mailboxes may store more, and which scripts a mailbox has. A query instead would read its pages again
 * after each message that is committed.
 */
import type { App } from '../app.ts';
import { AnswerCache } from '../db/answer-cache.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { DomainRow } from '../db/tables.ts';
import { findReceiver, stillReceives } from '../domains/receiving/store.ts';
import { type AddressOwner, mapAddresses } from '../mailboxes/addresses/store.ts';
import {
  type MailboxScripts,
  SCRIPT_TABLES,
  scriptsOf,
  sizeOfScripts,
} from '../mailboxes/scripts/of-mailbox.ts';
import { mapRoutes, type RouteId } from '../routes/store.ts';
import { createTenantQuota, type TenantQuota } from '../tenants/stored-mail/quota.ts';
import { createMailboxQuota, type MailboxQuota } from './quota.ts';

type TenantId = DomainRow['tenantId'];
type Receiver = NonNullable<Awaited<ReturnType<typeof findReceiver>>>;

export type Directory = TenantQuota &
  MailboxQuota & {
    /** Returns the domain that receives mail for the name, which is in lower case and A-labels. */
    findReceiver(name: string): Promise<Receiver | undefined>;
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
