/** Tools that look at webhook endpoints and at the posts that fail. */
import type { Static } from 'typebox';
import { path } from '../../http/json/calls.ts';
import type { deliverySchema } from '../../webhooks/log/schemas.ts';
import type { endpointSchema } from '../../webhooks/schemas.ts';
import { idArgument, oneOf, optional, pageArguments } from '../arguments.ts';
import { saysPage } from '../says-page.ts';
import { defineTool, input } from '../tool.ts';

type Page<Item> = { data: Item[]; nextCursor: string | null };

export const listWebhooks = defineTool({
  name: 'list_webhooks',
  title: 'List webhook endpoints',
  description:
    'Lists the endpoints that events are posted to, with their status: enabled, disabled and why, failing since when. Use it when an application misses events.',
  effect: 'reads',
  input: input(pageArguments),
  async run({ api }, { limit = 10, ...query }) {
    const page = await api.get<Page<Static<typeof endpointSchema>>>('/webhooks', { limit, ...query });
    return { says: saysPage('endpoints', page), foreign: page.data };
  },
});

export const findWebhookDeliveries = defineTool({
  name: 'find_webhook_deliveries',
  title: 'Find posts to an endpoint',
  description:
    'Lists the posts of events to one endpoint, the newest first: status, number of tries, the answer of the application, and the time of the next try. By default those that failed.',
  effect: 'reads',
  input: input({
    webhookId: idArgument('wh', 'Endpoint. `list_webhooks` shows them.'),
    status: optional(oneOf(['pending', 'delivered', 'failed', 'skipped'], 'Status; failed by default.')),
    ...pageArguments,
  }),
  async run({ api }, { webhookId, status = 'failed', limit = 10, ...query }) {
    const page = await api.get<Page<Static<typeof deliverySchema>>>(path`/webhooks/${webhookId}/deliveries`, {
      status,
      limit,
      ...query,
    });
    return { says: saysPage(`${status} posts`, page), foreign: page.data };
  },
});
