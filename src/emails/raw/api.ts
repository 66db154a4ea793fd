/** Registers `GET /emails/{id}/raw`, which sends the source of an email. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../../app.ts';
import { binaryAnswer, sendMessageFile } from '../../http/json/message-file.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { findFor } from '../open-email.ts';
import type { RawMessages } from './open.ts';
import { type RecipientQuery, recipientQuery } from './recipient-query.ts';

const PATH = '/emails/:id/raw';
/** Registers the route. */
export function registerRaw(
  server: FastifyInstance,
  app: Pick<App, 'db'> & { rawMessages: RawMessages },
): void {
  server.get<{ Params: { id: string }; Querystring: RecipientQuery }>(
    PATH,
    {
      config: { needs: 'emails', refuses: ['invalid_state'] },
      schema: {
        operationId: 'getRawEmail',
        summary: 'Download an email',
        description:
          'Returns the whole message as a server receives it, with all header fields and the DKIM signature. An email that was not sent yet is ' +
          'composed as it would be sent now. 409 `invalid_state` once its content was deleted.',
        tags: ['Emails'],
        ...paramsOf(PATH),
        querystring: recipientQuery,
        response: { 200: binaryAnswer('message/rfc822', 'The message.') },
      },
    },
    async (request, reply) => {
      const head = await findFor(app, request);
      const { sizeBytes, chunks } = await app.rawMessages.open(head, request.query.recipient);
      return sendMessageFile(reply, { name: head.id, sizeBytes, chunks: chunks() });
    },
  );
}
