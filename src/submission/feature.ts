/** Submission of mail by people and applications that have logged in; `listeners.ts` is the door. */

import type { App } from '../app.ts';
import type { ExpiryStep } from '../db/expiry.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { DAY_MS } from '../system/clock.ts';
import { expireLimits } from './limits/store.ts';
import { createReportKind } from './reports/work.ts';

export const submission = {
  name: 'submission',
  tasks: [createReportKind],
  retention: submissionSteps,
} satisfies Feature;

/** Returns the steps of retention. An address to which nobody has written for as long as emails are kept is new again. */
export function submissionSteps({ db, config }: Pick<App, 'db' | 'config'>): readonly ExpiryStep[] {
  return [
    {
      kind: 'correspondents',
      size: new SliceSize(),
      expire: (now, { rows }) =>
        db.commit(expireLimits, { now, before: now - config.retention.emailDays * DAY_MS, rows }),
    },
  ];
}
