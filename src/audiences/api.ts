/** Routes of `/v1/audiences` (specification 4.7). */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { AudienceRow } from '../db/marketing-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { newId } from '../system/ids.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { deleteAudience } from './delete.ts';
import { audienceChangeSchema, audienceSchema, newAudienceSchema, showAudience } from './schemas.ts';
import { changeAudience, getAudience, insertAudience, listAudiences } from './store.ts';

type AudiencesApp = Pick<App, 'db' | 'clock' | 'wakeups'>;

/** Adds the routes of audiences to the server. */
export function registerAudiencesApi(server: FastifyInstance, app: AudiencesApp): void {
  const audiences = resourceRoutes<AudienceRow>(server, {
    name: 'audience',
    tag: 'Audiences',
    path: '/audiences',
    prefix: 'aud',
    schema: audienceSchema,
    show: showAudience,
  });
  audiences.create({ body: newAudienceSchema }, async (request) => {
    const audience = newAudience(callerOf(request).tenantId, request.body.name, app.clock.now());
    await app.db.commit(insertAudience, audience);
    return audience;
  });
  audiences.list({}, (request, page) => listAudiences(app.db.read, callerOf(request).tenantId, page));
  audiences.get({}, (request) => getAudience(app.db.read, callerOf(request).tenantId, request.params.id));
  audiences.update({ body: audienceChangeSchema }, (request) => {
    const { tenantId } = callerOf(request);
    const { id } = request.params;
    return app.db.commit(changeAudience, { tenantId, id, change: request.body, now: app.clock.now() });
  });
  audiences.delete(
    {
      description:
        'Deletes an audience with its contacts and segments, unless a broadcast to it is scheduled, being sent or paused.',
      refuses: ['invalid_state'],
    },
    async (request) => {
      const { tenantId } = callerOf(request);
      await app.db.commit(deleteAudience, { tenantId, id: request.params.id, now: app.clock.now() });
      app.wakeups.notify('audiences');
    },
  );
}

function newAudience(tenantId: AudienceRow['tenantId'], name: string, now: number): AudienceRow {
  const id = newId('aud', now);
  return { id, tenantId, name, contactCount: 0, createdAt: now, updatedAt: now, deletedAt: null };
}
