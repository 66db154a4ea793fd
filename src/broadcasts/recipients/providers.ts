/**
 * Counts what became of the contacts of a broadcast by the provider of their mailboxes. Reader threads read the ledger in slices, so that
 * a million contacts block nobody. This module writes nothing.
 */
import type { App } from '../../app.ts';
import { GROUPS, type Group, groupOf } from '../../counts/mailbox-groups.ts';
import type { BroadcastRecipientRow, LedgerState } from '../../db/broadcast-tables.ts';
import { defineRead } from '../../db/operation.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { AppError } from '../../system/errors.ts';
import { listRecipients } from './store.ts';

/** Numbers of contacts of one provider: by the state of their copy, and of those who opened it or clicked. */
type ProviderCounts = Record<LedgerState | 'recipients' | 'opened' | 'clicked', number>;
type ByProvider = Partial<Record<Group, ProviderCounts>>;

/** Number of contacts in a slice, which a reader thread counts in a few milliseconds. */
const SLICE_ROWS = 2_000;
/** Maximum number of broadcasts that are counted at the same time. Each waits for one slice of every other. */
const MAX_COUNTS = 8;
/** Number of counts that a tenant may run for each free one: a tenant alone runs at most two. */
const COUNTS_PER_FREE = 1 / 3;

const NO_COUNTS: ProviderCounts = {
  recipients: 0,
  waiting: 0,
  queued: 0,
  delivered: 0,
  bounced: 0,
  suppressed: 0,
  optedOut: 0,
  canceled: 0,
  failed: 0,
  opened: 0,
  clicked: 0,
};

type Slice = { broadcastId: BroadcastRecipientRow['broadcastId']; after: string | undefined };

const countSlice = defineRead(
  'broadcastRecipients.countByProvider',
  async (tx, { broadcastId, after }: Slice): Promise<{ counts: ByProvider; last: string | undefined }> => {
    const page = { limit: SLICE_ROWS, ...(after !== undefined && { startingAfter: after }) };
    const { items, hasMore } = await listRecipients(tx, broadcastId, page);
    const counts: ByProvider = {};
    for (const { address, state, openedAt, clickedAt } of items) {
      const provider = groupOf(address);
      const of = counts[provider] ?? { ...NO_COUNTS };
      counts[provider] = of;
      of.recipients += 1;
      of[state] += 1;
      // A click is an open as well, because images may be blocked.
      if (openedAt !== null || clickedAt !== null) of.opened += 1;
      if (clickedAt !== null) of.clicked += 1;
    }
    return { counts, last: hasMore ? items.at(-1)?.contactId : undefined };
  },
);

type ProviderReport = (ProviderCounts & { provider: Group })[];

type ProviderReports = (
  broadcast: { id: BroadcastRecipientRow['broadcastId']; tenantId: string },
  gone: AbortSignal,
) => Promise<ProviderReport>;

/** Returns the function that makes reports, which share their limits. It throws AppError unavailable while too many are made. */
export function createProviderReports({ db }: Pick<App, 'db'>): ProviderReports {
  const limiter = new ConcurrencyLimiter({ maxRunning: MAX_COUNTS, perFree: COUNTS_PER_FREE, maxWaiting: 0 });
  return ({ id: broadcastId, tenantId }, gone) => {
    const report = limiter.tryRun(
      async () => {
        const total = new Map<Group, ProviderCounts>();
        let after: string | undefined;
        do {
          gone.throwIfAborted();
          const { counts, last } = await db.query(countSlice, { broadcastId, after });
          for (const provider of GROUPS) total.set(provider, sum(total.get(provider), counts[provider]));
          after = last;
        } while (after !== undefined);
        return GROUPS.map((provider) => ({ provider, ...(total.get(provider) ?? NO_COUNTS) }));
      },
      { owner: tenantId },
    );
    if (report !== undefined) return report;
    throw new AppError('unavailable', 'Too many broadcasts are being counted at the same time', {
      retryAfterSeconds: 1,
    });
  };
}

function sum(one: ProviderCounts = NO_COUNTS, other: ProviderCounts = NO_COUNTS): ProviderCounts {
  const names = Object.keys(NO_COUNTS) as (keyof ProviderCounts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as ProviderCounts;
}
