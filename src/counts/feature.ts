import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { DAY_MS } from '../system/clock.ts';
import { expireCounts, MAX_COUNTED_DAYS } from './store.ts';

export const counts = {
  name: 'counts',
  retention: ({ db }: Pick<App, 'db'>) => [
    {
      kind: 'counts',
      size: new SliceSize(),
      expire: (now, { rows }) => db.commit(expireCounts, { before: now - MAX_COUNTED_DAYS * DAY_MS, rows }),
    },
  ],
} satisfies Feature;
