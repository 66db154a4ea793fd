/**
 * Answers from memory what each RCPT asks the database: which tenant receives the mail of a domain, and which routes it has. Mail
 * that arrives changes neither, while each message that is committed makes the next query read its pages again.
 */
import type { App } from '../app.ts';
import { KeptAnswers } from '../db/kept-answers.ts';
import type { DomainRow } from '../db/tables.ts';
import { findReceiver, stillReceives } from '../domains/receiving/store.ts';
import { hasRoomFor, hasUnlimitedRoom } from '../tenants/stored-mail/store.ts';
import { mapRoutes, type RouteId } from './routes/store.ts';

type TenantId = DomainRow['tenantId'];
type Receiver = NonNullable<Awaited<ReturnType<typeof findReceiver>>>;

export type Directory = {
  /** Returns the domain that receives mail for the name, which is in lower case and A-labels. */
  findReceiver(name: string): Promise<Receiver | undefined>;
  /** Returns the enabled route of the tenant for exactly this address, which is in lower case. */
  findRoute(tenantId: TenantId, address: string): Promise<RouteId | undefined>;
  /** Returns true when the tenant may store another message of this size, as far as the size is known. */
  hasRoomFor(tenantId: TenantId, sizeBytes: number | undefined): Promise<boolean>;
};

/** Maximum number of names, and of tenants, whose answers are kept: a few MB. Our own limit. */
const MAX_KEPT = 10_000;
/** Maximum number of routes that are kept. They take about 20 MB. Our own limit. */
const MAX_KEPT_ROUTES = 100_000;

/** Returns a directory without answers. */
export function createDirectory({ db, clock }: Pick<App, 'db' | 'clock'>): Directory {
  const { changes, read } = db;
  const receivers = new KeptAnswers<string, { receiver: Receiver | undefined }>({
    changes,
    tables: ['domains'],
    maxSize: MAX_KEPT,
    sizeOf: () => 1,
  });
  const routes = new KeptAnswers<TenantId, ReadonlyMap<string, RouteId>>({
    changes,
    tables: ['inboundRoutes'],
    maxSize: MAX_KEPT_ROUTES,
    sizeOf: ({ size }) => size + 1,
  });
  return {
    async findReceiver(name) {
      const now = clock.now();
      const { receiver } = await receivers.get(name, async () => ({
        receiver: await findReceiver(read, name, now),
      }));
      // A grace period ends without a change of the row.
      return receiver && stillReceives(receiver, now) ? receiver : receiver && findReceiver(read, name, now);
    },
    async findRoute(tenantId, address) {
      const known = await routes.get(tenantId, () => mapRoutes(read, tenantId));
      return known.get(address);
    },
    hasRoomFor: createRoomCheck({ db }),
  };
}

/** Returns the function that compares the stored mail of a tenant with its plan. A plan without a limit needs no query. */
function createRoomCheck({ db: { changes, read } }: Pick<App, 'db'>): Directory['hasRoomFor'] {
  const unlimited = new KeptAnswers<TenantId, { isUnlimited: boolean }>({
    changes,
    tables: ['tenants', 'plans'],
    maxSize: MAX_KEPT,
    sizeOf: () => 1,
  });
  return async (tenantId, sizeBytes) => {
    const { isUnlimited } = await unlimited.get(tenantId, async () => ({
      isUnlimited: await hasUnlimitedRoom(read, tenantId),
    }));
    return isUnlimited || hasRoomFor(read, tenantId, sizeBytes);
  };
}
