/** Opens and clicks of tracked mail, and whether a person or a machine made them; `links/track.ts` is the door. */
import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { DAY_MS } from '../system/clock.ts';
import { expireEngagements } from './engagements/store.ts';
import { createClassificationWork } from './worker.ts';

export const tracking = {
  name: 'tracking',
  works: [createClassificationWork],
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'engagements',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireEngagements, { before: now - config.retention.engagementDays * DAY_MS, ...slice }),
    },
  ],
} satisfies Feature;
