/** The emails resource: send, retrieve, list, cancel, reschedule (specification 4.1, api.md 1.3). */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { listEventsOfEmail } from '../events/store.ts';
import { refuseImmutable } from '../http/immutable-fields.ts';
import { detachedOf } from '../http/large-strings.ts';
import { listEnvelope, pageRequest } from '../http/page.ts';
import { problemSchema } from '../http/problem.ts';
import { listRecipients } from '../queue/store.ts';
import { type Caller, callerOf } from '../tenants/authenticate.ts';
import { cancelEmail, getEmail, rescheduleEmail } from './change.ts';
import { createDownloads, type DownloadsApp } from './download.ts';
import { readIdempotencyKey } from './idempotency.ts';
import { createInFlight } from './in-flight.ts';
import { readFilter } from './request/filter.ts';
import {
  type EmailListQuery,
  emailListQuery,
  idempotencyHeader,
  type RescheduleBody,
  rescheduleSchema,
  type SendBody,
  sendSchema,
} from './schemas.ts';
import { type SendApp, sendEmail } from './send.ts';
import { emailPageSchema, emailSchema, sentSchema, showEmail, showSummary } from './show.ts';
import { listEmails } from './store.ts';

export type EmailsApp = Omit<SendApp, 'downloads' | 'inFlight'> & DownloadsApp;

const tags = ['Emails'];
const params = Type.Object({ id: Type.String({ description: 'Starts with `em_`.' }) });
const problem = { '4xx': problemSchema };

export function registerEmailsApi(server: FastifyInstance, app: EmailsApp): void {
  registerSend(server, { ...app, downloads: createDownloads(app), inFlight: createInFlight(app.clock) });
  registerRetrieve(server, app);
  registerList(server, app);
  registerCancel(server, app);
  registerReschedule(server, app);
}

function registerSend(server: FastifyInstance, app: SendApp): void {
  server.post<{ Body: SendBody; Headers: { 'idempotency-key'?: string } }>(
    '/emails',
    {
      config: { needs: 'send', detachesContent: true },
      schema: {
        summary: 'Send an email',
        description: 'Answered when the email is on disk. It is delivered right after, or at `scheduledAt`.',
        tags,
        headers: idempotencyHeader,
        body: sendSchema,
        response: { 200: sentSchema, ...problem },
      },
    },
    async (request, reply) => {
      const { replayed, ...accepted } = await sendEmail(app, callerOf(request), {
        body: request.body,
        detached: detachedOf(request),
        idempotencyKey: readIdempotencyKey(request.headers['idempotency-key']),
      });
      if (replayed) reply.header('idempotency-replayed', 'true');
      return accepted;
    },
  );
}

function registerRetrieve(server: FastifyInstance, app: EmailsApp): void {
  server.get<{ Params: { id: string } }>(
    '/emails/:id',
    {
      config: { needs: 'emails' },
      schema: { summary: 'Retrieve an email', tags, params, response: { 200: emailSchema, ...problem } },
    },
    (request) => retrieve(app, callerOf(request), request.params.id),
  );
}

function registerList(server: FastifyInstance, app: EmailsApp): void {
  server.get<{ Querystring: EmailListQuery }>(
    '/emails',
    {
      config: { needs: 'emails' },
      schema: {
        summary: 'List emails',
        description: 'Newest first. Filters combine.',
        tags,
        querystring: emailListQuery,
        response: { 200: emailPageSchema, ...problem },
      },
    },
    async (request) => {
      const { tenantId, mode } = callerOf(request);
      const page = pageRequest(request.query, 'em');
      const list = { tenantId, mode, filter: readFilter(request.query), page };
      return listEnvelope(request.query, await app.db.query(listEmails, list), showSummary);
    },
  );
}

function registerCancel(server: FastifyInstance, app: EmailsApp): void {
  server.post<{ Params: { id: string } }>(
    '/emails/:id/cancel',
    {
      config: { needs: 'send' },
      schema: {
        summary: 'Cancel an email',
        description: 'As long as no delivery was tried. Answers the email, `canceled`.',
        tags,
        params,
        response: { 200: emailSchema, ...problem },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      return retrieve(app, caller, await cancelEmail(app, caller, request.params.id));
    },
  );
}

function registerReschedule(server: FastifyInstance, app: EmailsApp): void {
  server.patch<{ Params: { id: string }; Body: RescheduleBody }>(
    '/emails/:id',
    {
      config: { needs: 'send' },
      preValidation: refuseImmutable([sendSchema, emailSchema], rescheduleSchema),
      schema: {
        summary: 'Reschedule an email',
        description: 'As long as no delivery was tried. Answers the email.',
        tags,
        params,
        body: rescheduleSchema,
        response: { 200: emailSchema, ...problem },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const { id } = request.params;
      return retrieve(app, caller, await rescheduleEmail(app, caller, { id, body: request.body }));
    },
  );
}

async function retrieve(app: Pick<App, 'db'>, caller: Caller, id: string) {
  const email = await getEmail(app, caller, id);
  const recipients = await listRecipients(app.db.read, email.id);
  return showEmail(email, recipients, await listEventsOfEmail(app.db.read, email.id));
}
