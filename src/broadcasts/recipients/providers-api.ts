/** The route that answers how a broadcast fared with each provider of mailboxes. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import { GROUPS } from '../../counts/mailbox-groups.ts';
import { pageSchema } from '../../http/json/page.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { whileAwaited } from '../../http/transport/client-disconnect.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { getBroadcast } from '../store.ts';
import { createProviderReports } from './providers.ts';

const count = (description?: string) => Type.Integer(description === undefined ? {} : { description });

const providerSchema = Type.Object(
  {
    provider: Type.Enum([...GROUPS], {
      description: 'Follows from the domain of the address alone, as in `GET /v1/metrics`.',
    }),
    recipients: count('Contacts with such an address: the sum of the next eight counts.'),
    waiting: count(),
    queued: count(),
    delivered: count(),
    bounced: count(),
    suppressed: count(),
    optedOut: count(),
    canceled: count(),
    failed: count(),
    opened: count('Copies that people have opened, or in which they have followed a link.'),
    clicked: count('Copies in which people have followed a link.'),
  },
  {
    title: 'BroadcastProvider',
    examples: [
      {
        provider: 'gmail',
        recipients: 512,
        waiting: 0,
        queued: 2,
        delivered: 504,
        bounced: 6,
        suppressed: 0,
        optedOut: 0,
        canceled: 0,
        failed: 0,
        opened: 210,
        clicked: 37,
      },
    ],
  },
);

export const providersSchema = pageSchema(providerSchema);

const PATH = '/broadcasts/:id/providers';

/** Registers the route on the server. */
export function registerProvidersApi(server: FastifyInstance, app: Pick<App, 'db'>): void {
  const report = createProviderReports(app);
  const schema = {
    operationId: 'listBroadcastProviders',
    summary: 'Count the recipients of a broadcast by provider',
    description:
      'Returns what became of the contacts with mailboxes of each large provider, and of all others. The ledger is read when it is ' +
      'asked for, which takes seconds for a million contacts.',
    tags: ['Broadcasts'],
    ...paramsOf(PATH),
    response: { 200: providersSchema },
  };
  server.get<{ Params: { id: string } }>(PATH, { schema }, async (request) => {
    const broadcast = await getBroadcast(app.db.read, callerOf(request), request.params.id);
    const data = await whileAwaited(request, (gone) => report(broadcast, gone));
    return { data, hasMore: false, nextCursor: null };
  });
}
