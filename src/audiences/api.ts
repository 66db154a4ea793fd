/** Routes of `/v1/audiences` (specification 4.7). */
import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { AudienceRow } from '../db/marketing-tables.ts';
import { resourceRoutes } from '../http/json/resource.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { deleteAudience } from './delete.ts';
import { readOptIn } from './opt-in/settings.ts';
import { audienceChangeSchema, audienceSchema, newAudienceSchema, showAudience } from './schemas.ts';
import {
  changeAudience,
  getAudience,
  insertAudience,
  listAudiences,
  newAudience,
  requireMayConfirm,
} from './store.ts';

/** Setting the sender of confirmation mail is checked as sending from it is. */
const refuses = ['domain_not_verified', 'restricted_api_key'] as const;

/** Adds the routes of audiences to the server. */
export function registerAudiencesApi(server: FastifyInstance, app: App): void {
  const audiences = resourceRoutes<AudienceRow>(server, {
    name: 'audience',
    tag: 'Audiences',
    path: '/audiences',
    prefix: 'aud',
    schema: audienceSchema,
    show: showAudience,
  });
  audiences.create({ body: newAudienceSchema, refuses }, async (request) => {
    const caller = callerOf(request);
    const { name, optIn: given = null } = request.body;
    if (given !== null) requireMayConfirm(caller);
    const optIn = await readOptIn(app, caller, given);
    const audience = newAudience({ tenantId: caller.tenantId, name, optIn, now: app.clock.now() });
    await app.db.commit(insertAudience, audience);
    return audience;
  });
  audiences.list({}, (request, page) => listAudiences(app.db.read, callerOf(request).tenantId, page));
  audiences.get({}, (request) => getAudience(app.db.read, callerOf(request).tenantId, request.params.id));
  audiences.update({ body: audienceChangeSchema, refuses }, async (request) => {
    const caller = callerOf(request);
    const { name, optIn } = request.body;
    const change = {
      ...(name !== undefined && { name }),
      ...(optIn !== undefined && { optIn: await readOptIn(app, caller, optIn) }),
    };
    const { tenantId, approval } = caller;
    const { id } = request.params;
    return app.db.commit(changeAudience, { tenantId, approval, id, change, now: app.clock.now() });
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
