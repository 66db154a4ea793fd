/** The emails resource: send, retrieve, list (specification 4.1). */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { listEventsOfEmail } from '../events/store.ts';
import { listEnvelope, pageRequest } from '../http/page.ts';
import { problemSchema } from '../http/problem.ts';
import { listRecipients } from '../queue/store.ts';
import { notFound } from '../system/errors.ts';
import { isId } from '../system/ids.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { readIdempotencyKey } from './idempotency.ts';
import {
  type EmailListQuery,
  emailListQuery,
  emailPageSchema,
  emailSchema,
  idempotencyHeader,
  type SendBody,
  sendSchema,
  sentSchema,
  showEmail,
  showSummary,
} from './schemas.ts';
import { type SendApp, sendEmail } from './send.ts';
import { findEmail, listEmails } from './store.ts';

const tags = ['Emails'];

export function registerEmailsApi(server: FastifyInstance, app: SendApp): void {
  server.post<{ Body: SendBody; Headers: { 'idempotency-key'?: string } }>(
    '/emails',
    {
      config: { needs: 'send' },
      schema: {
        summary: 'Send an email',
        tags,
        headers: idempotencyHeader,
        body: sendSchema,
        response: { 200: sentSchema, '4xx': problemSchema },
      },
    },
    async (request, reply) => {
      const key = readIdempotencyKey(request.headers['idempotency-key']);
      const { replayed, ...accepted } = await sendEmail(app, callerOf(request), request.body, key);
      if (replayed) reply.header('idempotency-replayed', 'true');
      return accepted;
    },
  );

  server.get<{ Params: { id: string } }>(
    '/emails/:id',
    {
      config: { needs: 'emails' },
      schema: {
        summary: 'Retrieve an email',
        tags,
        params: Type.Object({ id: Type.String() }),
        response: { 200: emailSchema, '4xx': problemSchema },
      },
    },
    async (request) => {
      const { tenantId, mode } = callerOf(request);
      const { id } = request.params;
      const email = isId('em', id) ? await findEmail(app.db.read, tenantId, { mode, id }) : undefined;
      if (!email) throw notFound('Email');
      const recipients = await listRecipients(app.db.read, email.id);
      return showEmail(email, recipients, await listEventsOfEmail(app.db.read, email.id));
    },
  );

  server.get<{ Querystring: EmailListQuery }>(
    '/emails',
    {
      config: { needs: 'emails' },
      schema: {
        summary: 'List emails',
        tags,
        querystring: emailListQuery,
        response: { 200: emailPageSchema, '4xx': problemSchema },
      },
    },
    async (request) => {
      const { tenantId, mode } = callerOf(request);
      const { status, from, to } = request.query;
      const filter = {
        ...(status && { status }),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      };
      const page = await app.db.query(listEmails, {
        tenantId,
        mode,
        filter,
        page: pageRequest(request.query, 'em'),
      });
      return listEnvelope(request.query, page, showSummary);
    },
  );
}
