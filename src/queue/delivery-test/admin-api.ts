/** Registers the operator's route that tests the delivery to an address. It is served on the control socket alone. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import { createJsonLines, JSON_LINES_TYPE, type JsonLines } from '../../http/json/json-lines.ts';
import { parseMailbox } from '../../mail/address.ts';
import { HeldEgressError } from '../../system/egress.ts';
import { AppError, errorMessage, invalid } from '../../system/errors.ts';
import { getTenant } from '../../tenants/store.ts';
import { DeliveryTls } from '../../tls-policies/delivery-tls.ts';
import type { Replies } from '../outcome/replies/replies.ts';
import { Sources } from '../sources/sources.ts';
import { testDelivery } from './run.ts';

/** `tenant` is an id or a name. */
const testSchema = Type.Object({ address: Type.String(), tenant: Type.Optional(Type.String()) });

/** Registers `POST /deliver-test` on the server of the control socket. One test runs at a time. */
export function registerDeliveryTest(server: FastifyInstance, app: App & { replies: Replies }): void {
  let running: JsonLines | undefined;
  const sources = new Sources(app);
  const tls = new DeliveryTls(app);
  server.post<{ Body: Static<typeof testSchema> }>(
    '/deliver-test',
    { schema: { body: testSchema } },
    async ({ body }, reply) => {
      const to = parseMailbox(body.address);
      if (!to) throw invalid('address', '`address` must be an email address');
      const tenantId = body.tenant === undefined ? '' : (await getTenant(app.db.read, body.tenant)).id;
      if (app.egress.isHeld) throw new AppError('invalid_state', new HeldEgressError().message);
      if (running) throw new AppError('invalid_state', 'Another test of a delivery is running');
      const stop = new AbortController();
      const lines = createJsonLines(app.clock, () => {
        running = undefined;
        stop.abort();
      });
      running = lines;
      void testDelivery({ ...app, sources, tls }, { to, tenantId, tell: lines.send, signal: stop.signal })
        .catch((error) => {
          app.log.error({ err: error }, 'the test of a delivery failed because of an internal error');
          const failed = {
            kind: 'result',
            isAccepted: false,
            outcome: 'deferred',
            class: null,
            advice: null,
          };
          lines.send({ ...failed, text: `Local error: ${errorMessage(error)}` });
        })
        .finally(lines.end);
      return reply.type(JSON_LINES_TYPE).send(lines.stream);
    },
  );
  server.addHook('preClose', async () => running?.end());
}
