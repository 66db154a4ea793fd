/** Lets the operator send an email as a tenant, over the control socket alone. The rules are those of `POST /v1/emails`. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../app.ts';
import { createLinks } from '../links/links.ts';
import { createPacking } from '../queue/contents/source.ts';
import { getOnlyTenant } from '../tenants/store.ts';
import { acceptEmail } from './accept.ts';
import { commitStored } from './commit.ts';
import { createDownloads } from './download.ts';
import { holdTextFor } from './hold-text.ts';
import { prepareEmail } from './prepare.ts';
import { readSendRequest } from './request.ts';
import { MAX_BODY_BYTES } from './schemas.ts';

/** `tenant` is an id or a name; it may be left out while there is only one. */
const schema = Type.Object({
  tenant: Type.Optional(Type.String()),
  mode: Type.Enum(['live', 'test']),
  from: Type.String(),
  to: Type.Array(Type.String(), { minItems: 1 }),
  subject: Type.String(),
  text: Type.Optional(Type.String({ maxLength: MAX_BODY_BYTES })),
  html: Type.Optional(Type.String({ maxLength: MAX_BODY_BYTES })),
});

/** Registers `POST /emails`. */
export function registerOperatorSend(server: FastifyInstance, app: App): void {
  const bodies = app.guards.memory.control;
  const sending = { ...app, downloads: createDownloads({ ...app, bodies }), links: createLinks(app) };
  server.post<{ Body: Static<typeof schema> }>('/emails', { schema: { body: schema } }, async (request) => {
    const { tenant, mode, ...body } = request.body;
    const { id: tenantId } = await getOnlyTenant(app.db.read, tenant);
    const wanted = readSendRequest(
      { ...body, type: 'transactional' },
      { findContent: () => undefined, now: app.clock.now() },
    );
    const caller = { tenantId, mode, keyId: null, domainId: null, approval: null };
    const holdText = holdTextFor(request);
    const rows = await prepareEmail(sending, caller, { request: wanted, holdText, pack: createPacking() });
    const write = { write: acceptEmail, input: { rows, idempotency: undefined } };
    // The permissions of the socket take the place of a key.
    const prepared = { rows: [rows], acceptedRows: () => [rows], requireValidKey: () => undefined };
    return (await commitStored(sending, write, prepared)).response;
  });
}
