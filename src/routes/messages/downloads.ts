/**
 * Serves the links of posts to routes, by which receivers download large files. The links need no key: a token in the link
 * is valid for one file and 24 hours (links/download-token.ts). They are part of the HTTP API and not of the public pages,
 * since programs follow them and `http.publicUrl` names the API.
 */
import type { FastifyInstance } from 'fastify';
import type { App } from '../../app.ts';
import { chargeResponse } from '../../http/transport/response-budget.ts';
import { findReceived } from '../../inbound/store.ts';
import { notFound } from '../../system/errors.ts';
import { createDownloadLinks, DOWNLOAD_PATH } from '../post/links.ts';
import type { ReceivedContents } from './content.ts';
import { sendFile, sendRaw } from './send-file.ts';

/** Registers the route of the downloads. It is not part of the OpenAPI document, as nobody writes such links. */
export function serveDownloads(server: FastifyInstance, app: App & { contents: ReceivedContents }): void {
  const links = createDownloadLinks(app);
  server.get<{ Params: { token: string } }>(
    `${DOWNLOAD_PATH}/:token`,
    { schema: { hide: true } },
    async (request, reply) => {
      const download = links.open(request.params.token);
      const message = download && (await findReceived(app.db.read, download.messageId));
      if (!message) throw notFound('Download');
      // A file may be larger than the share of the responses to an address.
      if (message.tenantId !== null) chargeResponse(request, message.tenantId);
      reply.header('cache-control', 'private, no-store');
      return download.file === 0
        ? sendRaw(reply, app, message)
        : sendFile(reply, await app.contents.openFile(message, download.file));
    },
  );
}
