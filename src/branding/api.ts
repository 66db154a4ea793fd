/** `/v1/branding`: how the public pages show the tenant of the key to its readers. There is one for each tenant. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { linksOrigin } from '../links/origin.ts';
import { callerOf } from '../tenants/authenticate.ts';
import type { BrandingReader } from './change.ts';
import { type BrandingBody, brandingChangeSchema, brandingSchema, showBranding } from './schemas.ts';
import { changeBranding, deleteBranding, findBranding } from './store.ts';

const PATH = '/branding';
const tags = ['Branding'];
const response = { 200: brandingSchema };

/** Registers the routes. */
export function registerBrandingApi(
  server: FastifyInstance,
  app: Pick<App, 'db' | 'clock' | 'config'> & { brandings: BrandingReader },
): void {
  const { db, clock, brandings } = app;
  const origin = linksOrigin(app.config);
  const get = {
    operationId: 'getBranding',
    summary: 'Retrieve the branding',
    description: 'Returns name, colours and logo of the public pages. Every field is null until it is set.',
    tags,
    response,
  };
  server.get(PATH, { schema: get }, async (request) =>
    showBranding(await findBranding(db.read, callerOf(request).tenantId), origin),
  );
  const change = {
    operationId: 'changeBranding',
    summary: 'Set the branding',
    description:
      'Sets name, colours and logo of the pages that links in mail lead to: unsubscribing, preferences and confirmations. Omitted fields keep their ' +
      'values, and null removes one. Colours on which text cannot be read are refused.',
    tags,
    body: brandingChangeSchema,
    response,
  };
  server.put<{ Body: BrandingBody }>(PATH, { schema: change }, async (request) => {
    const { tenantId } = callerOf(request);
    const changed = await brandings.read(request.body, tenantId);
    return showBranding(
      await db.commit(changeBranding, { tenantId, change: changed, now: clock.now() }),
      origin,
    );
  });
  const remove = {
    operationId: 'deleteBranding',
    summary: 'Delete the branding',
    description: 'Removes name, colours and logo from the public pages.',
    tags,
    response: { 204: Type.Null({ description: 'Deleted' }) },
  };
  server.delete(PATH, { schema: remove }, async (request, reply) => {
    await db.commit(deleteBranding, { tenantId: callerOf(request).tenantId });
    return reply.code(204).send();
  });
}
