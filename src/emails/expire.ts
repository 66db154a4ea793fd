/** The steps of retention for emails. The content of an email is deleted before the email, so that no file is left behind. */
import type { App } from '../app.ts';
import { discardAll } from '../blobs/discard-on-refusal.ts';
import type { ExpiryStep } from '../db/expiry.ts';
import { SliceSize } from '../db/slice-size.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstKeptId } from '../system/ids.ts';
import { expireContent, expireEmails } from './store.ts';

/** Number of emails in a slice. A slice takes between one and a few milliseconds on an SSD, flush included. */
const EMAILS = { first: 50, min: 5, max: 50 };

/** Returns the steps for emails and their content. */
export function emailSteps(app: Pick<App, 'db' | 'blobs' | 'config' | 'crashPoint'>): readonly ExpiryStep[] {
  const { retention } = app.config;
  const olderThan = (days: number, now: number) => ({
    now,
    before: firstKeptId('em', now, days),
    endedBy: now - days * DAY_MS,
  });
  return [
    {
      kind: 'contents',
      size: new SliceSize(EMAILS),
      async expire(now, slice) {
        const range = { ...olderThan(retention.contentDays, now), ...slice };
        const { files, ...expired } = await app.db.commit(expireContent, range);
        app.crashPoint('retention-before-files');
        await discardAll(app.blobs, files);
        return expired;
      },
    },
    {
      kind: 'emails',
      size: new SliceSize(EMAILS),
      expire: (now, slice) =>
        app.db.commit(expireEmails, { ...olderThan(retention.emailDays, now), ...slice }),
    },
  ];
}
