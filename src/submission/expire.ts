/** The step of retention for what is known about the mail of people: to whom each mailbox has written. */
import type { App } from '../app.ts';
import { SliceSize } from '../retention/slice-size.ts';
import type { Step } from '../retention/steps.ts';
import { DAY_MS } from '../system/clock.ts';
import { expireLimits } from './limits/store.ts';

/** Our own limits: the rows are small. */
const ROWS = { first: 250, min: 25, max: 500 };

/** Returns the steps of retention. An address to which nobody has written for as long as emails are kept is new again. */
export function submissionSteps({ db, config }: Pick<App, 'db' | 'config'>): readonly Step[] {
  return [
    {
      kind: 'correspondents',
      size: new SliceSize(ROWS),
      expire: (now, { rows }) =>
        db.commit(expireLimits, { now, before: now - config.retention.emailDays * DAY_MS, rows }),
    },
  ];
}
