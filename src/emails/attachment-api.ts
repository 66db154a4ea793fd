/** Registers `GET /emails/{id}/attachments/{number}`, which sends one file of an email. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { binaryAnswer, sendFile } from '../http/json/message-file.ts';
import { reserveResponse } from '../http/transport/response-budget.ts';
import { filenameParameters } from '../mail/message/filename.ts';
import { orNotFound } from '../system/errors.ts';
import { type AttachmentFiles, listAttachments } from './attachment-files.ts';
import { findFor, getEmail } from './open-email.ts';
import type { RawMessages } from './raw/open.ts';

type AttachmentApp = Pick<App, 'db'> & { rawMessages: RawMessages; attachmentFiles: AttachmentFiles };

const PATH = '/emails/:id/attachments/:number';
/** Number of an attachment: an email has fewer than a thousand. */
const NUMBER = /^[1-9][0-9]{0,2}$/;

/** Registers the route. */
export function registerAttachment(server: FastifyInstance, app: AttachmentApp): void {
  server.get<{ Params: { id: string; number: string } }>(
    PATH,
    {
      config: { needs: 'emails', refuses: ['invalid_state'] },
      schema: {
        operationId: 'getEmailAttachment',
        summary: 'Download an attachment of an email',
        description:
          'Returns the bytes of the file. Its media type and its name are in the email. 409 `invalid_state` once its content was deleted.',
        tags: ['Emails'],
        params: Type.Object({
          id: Type.String({ description: 'The id of the email.' }),
          number: Type.String({
            description: 'The place of the attachment in the list of the email, from 1.',
          }),
        }),
        response: { 200: binaryAnswer('application/octet-stream', 'The file.') },
      },
    },
    async (request, reply) => {
      const head = await findFor(app, request);
      const email = await getEmail(app, head);
      const { number } = request.params;
      const index = NUMBER.test(number) ? Number(number) - 1 : -1;
      const { filename, sizeBytes } = orNotFound(listAttachments(email)[index], 'Attachment');
      reserveResponse(request, sizeBytes);
      const message = await app.rawMessages.open(head, undefined);
      const bytes = await app.attachmentFiles.read(message, email, index);
      return sendFile(reply, { disposition: `attachment; ${filenameParameters(filename).filename}`, bytes });
    },
  );
}
