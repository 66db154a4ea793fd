/** Decides what a pass of retention deletes: its steps in their order, and the setting that gives the age of each. */
import type { App } from '../app.ts';
import { discardAll } from '../blobs/discard-on-refusal.ts';
import { expireCounts, MAX_COUNTED_DAYS } from '../counts/store.ts';
import type { ExpiryRange, ExpirySlice } from '../db/expiry.ts';
import { releasePages } from '../db/free-pages.ts';
import { expireContent, expireEmails } from '../emails/store.ts';
import { expireEvents } from '../events/store.ts';
import { expireLedger } from '../ledger/expire.ts';
import { expireAttempts } from '../queue/attempts-store.ts';
import { EVIDENCE_WINDOW_DAYS, expireEvidence } from '../suppressions/evidence/store.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstKeptId } from '../system/ids.ts';
import { expireEngagements } from '../tracking/engagements/store.ts';
import { expireDeliveries } from '../webhooks/deliveries/store.ts';
import { SliceSize } from './slice-size.ts';

export type Step = {
  /** Names what the step deletes, in the log and in the metrics. */
  kind: string;
  size: SliceSize;
  /**
   * Deletes the next slice of the rows that had expired at `now`: at most `rows` rows, beginning after the id `after`.
   */
  expire(now: number, slice: Pick<ExpiryRange, 'after' | 'rows'>): Promise<ExpirySlice>;
};

/** Our own limits: each size takes between one and a few milliseconds on an SSD, flush included. */
const ROWS = { first: 250, min: 25, max: 500 };
const EMAILS = { first: 50, min: 5, max: 50 };
const PAGES = { first: 64, min: 8, max: 256 };

/**
 * Returns the steps. The content of an email is deleted before the email, so that no file is left behind. Free pages
 * are given back at the end, after the steps of later features.
 */
export function createSteps(
  app: Pick<App, 'db' | 'blobs' | 'config' | 'crashPoint'>,
  laterSteps: readonly Step[] = [],
): readonly Step[] {
  const { db } = app;
  const { contentDays, engagementDays, webhookDays, eventDays, emailDays } = app.config.retention;
  const emailsOlderThan = (days: number, now: number) => ({
    now,
    before: firstKeptId('em', now, days),
    endedBy: now - days * DAY_MS,
  });
  return [
    {
      kind: 'contents',
      size: new SliceSize(EMAILS),
      async expire(now, slice) {
        const { files, ...expired } = await db.commit(expireContent, {
          ...emailsOlderThan(contentDays, now),
          ...slice,
        });
        app.crashPoint('retention-before-files');
        await discardAll(app.blobs, files);
        return expired;
      },
    },
    {
      kind: 'engagements',
      size: new SliceSize(ROWS),
      expire: (now, slice) =>
        db.commit(expireEngagements, { before: now - engagementDays * DAY_MS, ...slice }),
    },
    {
      kind: 'deliveries',
      size: new SliceSize(ROWS),
      expire: (now, slice) =>
        db.commit(expireDeliveries, { before: firstKeptId('whd', now, webhookDays), ...slice }),
    },
    {
      kind: 'attempts',
      size: new SliceSize(ROWS),
      expire: (now, slice) =>
        db.commit(expireAttempts, { before: firstKeptId('att', now, eventDays), ...slice }),
    },
    {
      kind: 'events',
      size: new SliceSize(ROWS),
      expire: (now, slice) =>
        db.commit(expireEvents, { before: firstKeptId('evt', now, eventDays), ...slice }),
    },
    {
      kind: 'emails',
      size: new SliceSize(EMAILS),
      expire: (now, slice) => db.commit(expireEmails, { ...emailsOlderThan(emailDays, now), ...slice }),
    },
    {
      kind: 'counts',
      size: new SliceSize(ROWS),
      expire: (now, { rows }) => db.commit(expireCounts, { before: now - MAX_COUNTED_DAYS * DAY_MS, rows }),
    },
    {
      kind: 'bounce evidence',
      size: new SliceSize(ROWS),
      expire: (now, { rows }) =>
        db.commit(expireEvidence, {
          before: now - Math.max(eventDays, EVIDENCE_WINDOW_DAYS) * DAY_MS,
          rows,
        }),
    },
    {
      kind: 'ledger',
      size: new SliceSize(ROWS),
      expire: (now, slice) =>
        db.commit(expireLedger, {
          before: firstKeptId('brd', now, emailDays),
          endedBy: now - emailDays * DAY_MS,
          ...slice,
        }),
    },
    ...laterSteps,
    {
      kind: 'pages',
      size: new SliceSize(PAGES),
      async expire(_now, { rows: pages }) {
        const { released, left } = await db.commit(releasePages, { pages });
        return { deleted: released, next: left > 0 ? 'more' : undefined };
      },
    },
  ];
}
