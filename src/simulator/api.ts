/** `/v1/simulator/reply`: a tenant chooses the SMTP reply that the simulator gives to its test mail. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { AppError } from '../system/errors.ts';
import { type Caller, callerOf } from '../tenants/authenticate.ts';
import { readReply, replyBodySchema, replySchema, showReply } from './schemas.ts';
import { deleteSimulatorReply, findSimulatorReply, setSimulatorReply } from './store.ts';

const PATH = '/simulator/reply';
const tags = ['Sandbox'];

/** Registers the routes of the reply. */
export function registerSimulatorApi(server: FastifyInstance, app: Pick<App, 'db' | 'clock'>): void {
  server.get(
    PATH,
    {
      schema: {
        operationId: 'getSimulatorReply',
        summary: 'Retrieve the reply of the simulator',
        description: 'Returns the SMTP reply that was chosen for test mail. It needs a test key.',
        tags,
        response: { 200: replySchema },
      },
    },
    async (request) => showReply(await findSimulatorReply(app.db.read, testTenantOf(request))),
  );
  server.put<{ Body: Static<typeof replyBodySchema> }>(
    PATH,
    {
      schema: {
        operationId: 'setSimulatorReply',
        summary: 'Choose the reply of the simulator',
        description:
          'From now on, the simulator gives this SMTP reply to test mail of the tenant, and an email becomes what a reply of a real server would ' +
          'make of it. A deferred email is tried again after two seconds, and then as live mail is. Live mail is not affected. It needs a test key.',
        tags,
        body: replyBodySchema,
        response: { 200: replySchema },
      },
    },
    async (request) => {
      const tenantId = testTenantOf(request);
      const reply = readReply(request.body, app.clock.now());
      await app.db.commit(setSimulatorReply, { tenantId, ...reply });
      return showReply(reply);
    },
  );
  server.delete(
    PATH,
    {
      schema: {
        operationId: 'deleteSimulatorReply',
        summary: 'Remove the reply of the simulator',
        description:
          'The simulator answers as the addresses of recipients say again, also to email that was deferred before. It needs a test key.',
        tags,
        response: { 204: Type.Null({ description: 'Deleted' }) },
      },
    },
    async (request, reply) => {
      await app.db.commit(deleteSimulatorReply, { tenantId: testTenantOf(request) });
      return reply.code(204).send();
    },
  );
}

/**
 * Returns the tenant of a test key.
 * @throws AppError restricted_api_key for a live key
 */
function testTenantOf(request: FastifyRequest): Caller['tenantId'] {
  const { tenantId, mode } = callerOf(request);
  if (mode === 'test') return tenantId;
  throw new AppError('restricted_api_key', 'The reply of the simulator belongs to test mode; use a test key');
}
