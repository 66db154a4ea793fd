/**
 * The background work of confirmation mail. Tenants are served in turn, so that an import of one with a million pending
 * contacts does not delay the forms of another.
 */
import type { App } from '../app.ts';
import { listDueRequests, listRequestingTenants } from '../audiences/opt-in/store.ts';
import type { ConfirmationRequestRow } from '../db/confirmation-tables.ts';
import { createDownloads } from '../emails/download.ts';
import { createLinks } from '../links/links.ts';
import type { Work } from '../system/worker.ts';
import { sendConfirmation } from './send.ts';

type TenantId = ConfirmationRequestRow['tenantId'];

/** Maximum number of tenants whose mail is made at the same time. Our own limit. */
const MAX_TENANTS = 2;
/** Maximum number of mails that are made for a tenant before it is another one's turn. Our own limit. */
const MAILS_PER_TURN = 20;
/** Pause of a tenant after a failure, for example because the disk is full, in milliseconds. */
const PAUSE_AFTER_ERROR_MS = 1_000;

type WorkApp = Pick<
  App,
  | 'blobs'
  | 'clock'
  | 'config'
  | 'db'
  | 'fetch'
  | 'guards'
  | 'htmlText'
  | 'linkFinder'
  | 'log'
  | 'metrics'
  | 'sealer'
  | 'wakeups'
>;

/** Returns the work that sends confirmation mail. Requests are not leased: a tenant is served by one run at a time. */
export function createConfirmationWork(base: WorkApp): Work<TenantId> {
  const bodies = base.guards.memory.api;
  const app = { ...base, downloads: createDownloads({ ...base, bodies }), links: createLinks(base) };
  const { db, clock } = app;
  const running = new Set<TenantId>();
  /** Earliest time of the next run of a tenant that failed, on the monotonic clock. */
  const pausedUntil = new Map<TenantId, number>();
  /** Tenant that was served last. The next one in the order of ids follows. */
  let last = '';
  return {
    name: 'confirmation mail',
    wakeOn: ['confirmations'],
    concurrency: MAX_TENANTS,
    async lease(limit) {
      const now = clock.now();
      const idle = (await listRequestingTenants(db.read))
        .filter(({ tenantId }) => !running.has(tenantId))
        .map(({ tenantId, dueAt }) => {
          const pauseMs = Math.max(0, (pausedUntil.get(tenantId) ?? 0) - clock.elapsed());
          return { tenantId, dueAt: pauseMs > 0 ? Math.max(dueAt, now + pauseMs) : dueAt };
        });
      const due = idle.filter(({ dueAt }) => dueAt <= now).map(({ tenantId }) => tenantId);
      const inTurn = [...due.filter((id) => id > last), ...due.filter((id) => id <= last)];
      const items = inTurn.slice(0, limit);
      for (const tenantId of items) running.add(tenantId);
      last = items.at(-1) ?? last;
      const waits = idle.filter(({ tenantId }) => !running.has(tenantId)).map(({ dueAt }) => dueAt);
      return { items, nextDueAt: waits.length === 0 ? undefined : Math.min(...waits) };
    },
    async run(tenantId) {
      try {
        const due = await listDueRequests(db.read, { tenantId, now: clock.now(), limit: MAILS_PER_TURN });
        await Promise.all(due.map((request) => sendConfirmation(app, request)));
        pausedUntil.delete(tenantId);
      } catch (error) {
        pausedUntil.set(tenantId, clock.elapsed() + PAUSE_AFTER_ERROR_MS);
        throw error;
      } finally {
        running.delete(tenantId);
      }
    },
  };
}
