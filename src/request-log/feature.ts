/** The log of the last requests to the API of each tenant. No other feature asks it. */
import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { firstKeptId } from '../system/ids.ts';
import { registerRequestLog } from './api.ts';
import { expireRequests } from './store.ts';

export const requestLog = {
  name: 'request-log',
  routes: [registerRequestLog],
  // The log has the requests of all keys of the tenant.
  reach: { none: ['listRequests'] },
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'requests',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireRequests, {
          before: firstKeptId('req', now, config.retention.requestDays),
          ...slice,
        }),
    },
  ],
} satisfies Feature;
