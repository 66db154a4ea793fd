/**
 * Registers the operator's route for the addresses of feedback loops. It is served on the control socket alone, never on a network
 * port. `control/admin-api.ts` registers the routes for mail that waits.
 */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { bounceDomain } from '../domains/records.ts';
import { invalid } from '../system/errors.ts';
import { feedbackLoopLocalPart, isProviderName, returnAddressKeyOf } from './return-path.ts';

const providerSchema = Type.Object({ provider: Type.String() });

/** Registers `GET /feedback-loops/{provider}` on the server of the control socket. */
export function registerQueueAdmin(server: FastifyInstance, app: Pick<App, 'config' | 'sealer'>): void {
  server.get<{ Params: Static<typeof providerSchema> }>(
    '/feedback-loops/:provider',
    { schema: { params: providerSchema } },
    async ({ params: { provider } }) => {
      if (!isProviderName(provider))
        throw invalid('provider', 'The name of a provider has 1 to 20 of a-z, 0-9 and `-`');
      const localPart = feedbackLoopLocalPart(returnAddressKeyOf(app), provider);
      return { address: `${localPart}@${bounceDomain(app.config)}` };
    },
  );
}
