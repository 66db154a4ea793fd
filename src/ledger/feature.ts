/** The ledger records the outcome of each contact of a broadcast, and the runs of broadcasts; `store.ts` is the door. */
import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { DAY_MS } from '../system/clock.ts';
import { firstKeptId } from '../system/ids.ts';
import { expireLedger } from './expire.ts';

export const ledger = {
  name: 'ledger',
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'ledger',
      size: new SliceSize(),
      expire: (now, slice) => {
        const { emailDays } = config.retention;
        const before = firstKeptId('brd', now, emailDays);
        return db.commit(expireLedger, { before, endedBy: now - emailDays * DAY_MS, ...slice });
      },
    },
  ],
} satisfies Feature;
