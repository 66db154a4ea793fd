import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { firstKeptId } from '../system/ids.ts';
import { expireEvents } from './store.ts';

export const events = {
  name: 'events',
  ids: ['evt'],
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'events',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireEvents, { before: firstKeptId('evt', now, config.retention.eventDays), ...slice }),
    },
  ],
} satisfies Feature;
