/** `/v1/inbound/messages`: the mail that was received for a tenant, and the posts of it to routes. */

import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import type { App } from '../../app.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { binaryAnswer } from '../../http/json/message-file.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from '../../http/json/page.ts';
import { paramsOf } from '../../http/json/resource.ts';
import { whileAwaited } from '../../http/transport/client-disconnect.ts';
import { chargeResponse } from '../../http/transport/response-budget.ts';
import { findReceived } from '../../inbound/store.ts';
import type { MessageContent } from '../../mail/message/parse/parser.ts';
import { notFound } from '../../system/errors.ts';
import { type Reach, reachOf } from '../../tenants/authenticate.ts';
import { showMessage } from '../post/body.ts';
import { createDownloadLinks, DOWNLOAD_PATH } from '../post/links.ts';
import type { ReceivedContents } from './content.ts';
import { listReceived, type ReceivedQuery, readReceivedFilter } from './list.ts';
import { replayReceived } from './replay.ts';
import {
  receivedFilter,
  receivedSchema,
  receivedSummarySchema,
  showReceived,
  showSummary,
} from './schemas.ts';
import { sendRaw, sendReceivedFile } from './send-file.ts';
import { getReceived, listSeenPosts, listSeenRecipients } from './store.ts';

type ReceivedApp = App & { contents: ReceivedContents };
type ById = { Params: { id: string } };

const TAG = 'Inbound messages';
const PATH = '/inbound/messages';
const ONE = `${PATH}/:id`;

/** Registers the routes of the inbound messages resource. */
export function registerReceivedApi(server: FastifyInstance, app: ReceivedApp): void {
  registerList(server, app);
  registerRetrieve(server, app);
  registerRaw(server, app);
  registerAttachment(server, app);
  registerReplay(server, app);
}

function registerList(server: FastifyInstance, app: ReceivedApp): void {
  server.get<{ Querystring: PageQuery & ReceivedQuery }>(
    PATH,
    {
      schema: {
        operationId: 'listInboundMessages',
        summary: 'List inbound messages',
        description:
          'Returns the messages that arrived for routes, the newest first. A message must match all given filters. Mail for mailboxes alone is not listed.',
        tags: [TAG],
        querystring: Type.Object({ ...pageQuery, ...receivedFilter }),
        response: { 200: pageSchema(receivedSummarySchema) },
      },
    },
    async (request) => {
      const reach = reachOf(request);
      const page = pageRequest(request.query, 'in');
      const filters = { tenantId: reach.tenantId, reach, filter: readReceivedFilter(request.query) };
      const found = await whileAwaited(request, (gone) => listReceived({ db: app.db, gone }, filters, page));
      return listEnvelope(request.query, found, showSummary);
    },
  );
}

function registerRetrieve(server: FastifyInstance, app: ReceivedApp): void {
  server.get<ById>(
    ONE,
    {
      schema: {
        operationId: 'getInboundMessage',
        summary: 'Retrieve an inbound message',
        description:
          'Returns the message with its texts and a list of its attachments, and its posts to routes. The bytes of attachments are at `/attachments/{number}` below it.',
        tags: [TAG],
        ...paramsOf(ONE),
        response: { 200: receivedSchema },
      },
    },
    async (request) => {
      const message = await getReceived(app.db.read, reachOf(request), request.params.id);
      return show(app, reachOf(request), message);
    },
  );
}

/** Nothing is left of a message whose content was deleted, except its row. */
const NO_CONTENT: MessageContent = { kind: 'opaque', fields: [] };

async function show(
  app: ReceivedApp,
  reach: Reach,
  message: ReceivedMessageRow,
): Promise<Static<typeof receivedSchema>> {
  const { read } = app.db;
  const content = message.blobId === null ? NO_CONTENT : await app.contents.parse(message, { upToBytes: 0 });
  const fields = showMessage({
    message,
    recipients: await listSeenRecipients(read, reach, message.id),
    content,
    linkTo: () => '',
  });
  return showReceived(message, fields, await listSeenPosts(read, reach, message.id));
}

function registerRaw(server: FastifyInstance, app: ReceivedApp): void {
  const path = `${ONE}/raw`;
  server.get<ById>(
    path,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'getRawInboundMessage',
        summary: 'Download an inbound message',
        description: 'Returns the message as it arrived, with the header fields that were added before it.',
        tags: [TAG],
        ...paramsOf(path),
        response: { 200: binaryAnswer('message/rfc822', 'The message.') },
      },
    },
    async (request, reply) => {
      const message = await getReceived(app.db.read, reachOf(request), request.params.id);
      return sendRaw(reply, app, message);
    },
  );
}

/** Number of a file: at most the maximum number of parts of a message. */
const FILE_NUMBER = /^[1-9][0-9]{0,3}$/;

function registerAttachment(server: FastifyInstance, app: ReceivedApp): void {
  const path = `${ONE}/attachments/:number`;
  server.get<{ Params: { id: string; number: string } }>(
    path,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'getInboundAttachment',
        summary: 'Download an attachment of an inbound message',
        description: 'Returns the bytes of the file. Its media type and its name are in the message.',
        tags: [TAG],
        params: Type.Object({
          id: Type.String({ description: 'The id of the message.' }),
          number: Type.String({ description: 'The `id` of the attachment, which is its number from 1.' }),
        }),
        response: { 200: binaryAnswer('application/octet-stream', 'The file.') },
      },
    },
    async (request, reply) => {
      const { id, number } = request.params;
      const message = await getReceived(app.db.read, reachOf(request), id);
      if (!FILE_NUMBER.test(number)) throw notFound('Attachment');
      return sendReceivedFile(reply, await app.contents.openFile(message, Number(number)));
    },
  );
}

function registerReplay(server: FastifyInstance, app: ReceivedApp): void {
  const path = `${ONE}/replay`;
  server.post<ById>(
    path,
    {
      config: { refuses: ['invalid_state'] },
      schema: {
        operationId: 'replayInboundMessage',
        summary: 'Post an inbound message again',
        description:
          'Makes the posts that have failed again, or all of them when none has failed, with as many attempts as at first. They keep their ids, by which a receiver can recognise them.',
        tags: [TAG],
        ...paramsOf(path),
        response: { 202: { ...receivedSchema, description: 'Accepted: the posts are made afterwards' } },
      },
    },
    async (request, reply) => {
      const reach = reachOf(request);
      const { id } = request.params;
      await app.db.commit(replayReceived, { reach, id, now: app.clock.now() });
      return reply.code(202).send(await show(app, reach, await getReceived(app.db.read, reach, id)));
    },
  );
}

/**
 * Registers the route of the downloads. It is not part of the OpenAPI document, as nobody writes such links. The
 * links need no key: a token in the link is valid for one file and 24 hours (links/download-token.ts). They are part
 * of the HTTP API and not of the public pages, since programs follow them and `http.publicUrl` names the API.
 */
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
        : sendReceivedFile(reply, await app.contents.openFile(message, download.file));
    },
  );
}
