/** Events as signed posts to endpoints of tenants; `part.ts` is the door, and `posting/kind.ts` for other posts. */
import type { App } from '../app.ts';
import { SliceSize } from '../db/slice-size.ts';
import type { Feature } from '../feature.ts';
import { firstKeptId } from '../system/ids.ts';
import type { StartableThread } from '../system/thread/on-demand.ts';
import { registerWebhookApi } from './api.ts';
import { expireDeliveries } from './deliveries/store.ts';
import { createWebhookStart } from './start.ts';

export const webhooks = {
  name: 'webhooks',
  ids: ['wh', 'whd'],
  routes: [registerWebhookApi],
  // An endpoint has the domain of the key that made it, and gets the events of that domain.
  reach: {
    domain: [
      ...['createWebhookEndpoint', 'listWebhookEndpoints', 'getWebhookEndpoint', 'updateWebhookEndpoint'],
      ...['deleteWebhookEndpoint', 'rotateWebhookSecret', 'testWebhookEndpoint'],
      ...['listWebhookDeliveries', 'getWebhookDelivery', 'replayWebhookDelivery'],
      ...['countWebhookReplay', 'replayWebhookDeliveries'],
    ],
  },
  works: [
    (app: Pick<App, 'db'> & { webhookThread: StartableThread }) => createWebhookStart(app, app.webhookThread),
  ],
  retention: ({ db, config }: Pick<App, 'db' | 'config'>) => [
    {
      kind: 'deliveries',
      size: new SliceSize(),
      expire: (now, slice) =>
        db.commit(expireDeliveries, {
          before: firstKeptId('whd', now, config.retention.webhookDays),
          ...slice,
        }),
    },
  ],
} satisfies Feature;
