/** `/v1/mailboxes/{id}/messages`, `/threads` and `/folders`: reads the mail in a mailbox. */
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { binaryAnswer, sendMessageFile } from '../http/json/message-file.ts';
import { pageQuery, pageSchema, readTime } from '../http/json/page.ts';
import { paramsOf } from '../http/json/resource.ts';
import { fileOf, type ReceivedContents } from '../routes/messages/content.ts';
import { sendReceivedFile } from '../routes/messages/send-file.ts';
import { notFound } from '../system/errors.ts';
import { type MailboxApp, type MessageAccess, openMailbox } from './access.ts';
import { openBytes, parseStored } from './content.ts';
import {
  foldersSchema,
  messageSchema,
  showFolders,
  showMessage,
  showSummary,
  showThread,
  summarySchema,
  threadSchema,
  threadSummarySchema,
} from './schemas.ts';

type ReadApp = MailboxApp & { contents: ReceivedContents };
type OfMailbox = { mailboxId: string };
type ById = OfMailbox & { id: string };

const TAG = 'Mailbox messages';
const PATH = '/mailboxes/:mailboxId';
const MESSAGE = `${PATH}/messages/:id`;

/** Matches an EMAILID (RFC 8474 section 3). */
const EMAIL_ID = /^[A-Za-z0-9_-]{1,255}$/;
/** Number of a file: at most the maximum number of parts of a message. */
const FILE_NUMBER = /^[1-9][0-9]{0,3}$/;
/** Maximum length of a text that is sought. */
const MAX_SOUGHT_CHARACTERS = 500;
const DEFAULT_PAGE_SIZE = 20;

/**
 * Returns the id of a message in a path.
 * @throws AppError not_found for text that is none
 */
export function messageIdOf({ id }: { id: string }): string {
  if (!EMAIL_ID.test(id)) throw notFound('Message');
  return id;
}

/** Registers the routes that read. */
export function registerReadApi(server: FastifyInstance, app: ReadApp, access: MessageAccess): void {
  registerFolders(server, app, access);
  registerList(server, app, access);
  registerMessage(server, app, access);
  registerFiles(server, app, access);
  registerThreads(server, app, access);
}

function registerFolders(server: FastifyInstance, app: ReadApp, access: MessageAccess): void {
  const path = `${PATH}/folders`;
  server.get<{ Params: OfMailbox }>(
    path,
    {
      schema: {
        operationId: 'listMailboxFolders',
        summary: 'List the folders of a mailbox',
        description: 'Returns all folders by name, with the numbers of their messages.',
        tags: [TAG],
        ...paramsOf(path),
        response: { 200: foldersSchema },
      },
    },
    async (request) => {
      const { mailbox } = await openMailbox(app, request, request.params.mailboxId);
      return showFolders(await access.call(mailbox, 'listFolders', {}));
    },
  );
}

const sought = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: MAX_SOUGHT_CHARACTERS, description }));

const folder = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'Role (`inbox`, `sent`, …), id or name of the folder. By default, `inbox`.',
  }),
);

/** Pages of messages go from newer to older ones alone, since messages come and go while a program reads. */
const page = {
  limit: pageQuery.limit,
  startingAfter: Type.Optional(
    Type.String({ maxLength: 200, description: '`nextCursor` of a page of the same list.' }),
  ),
};

const listQuery = Type.Object({
  ...page,
  folder,
  unread: Type.Optional(Type.Boolean({ description: 'Only unread messages, or only read ones.' })),
  flagged: Type.Optional(Type.Boolean({ description: 'Only flagged messages, or only others.' })),
  from: sought('Only messages with this text in From, such as a part of a name or an address.'),
  to: sought('Only messages with this text in To.'),
  subject: sought('Only messages with this text in the subject.'),
  q: sought('Only messages with this text in the header or in the text, as SEARCH TEXT of IMAP finds it.'),
  receivedAfter: Type.Optional(
    Type.String({
      description: 'Time in ISO 8601 with an offset; only messages that arrived then or later.',
    }),
  ),
  receivedBefore: Type.Optional(
    Type.String({ description: 'Time in ISO 8601 with an offset; only messages that arrived before.' }),
  ),
});

type ListQuery = Static<typeof listQuery>;

function registerList(server: FastifyInstance, app: ReadApp, access: MessageAccess): void {
  const path = `${PATH}/messages`;
  server.get<{ Params: OfMailbox; Querystring: ListQuery }>(
    path,
    {
      schema: {
        operationId: 'listMailboxMessages',
        summary: 'List the messages of a mailbox',
        description:
          'Returns the messages of one folder, the newest first. A message must match all given filters. A request examines at most 10,000 messages, so that a page may have few messages, or none, although `hasMore` is true.',
        tags: [TAG],
        ...paramsOf(path),
        querystring: listQuery,
        response: { 200: pageSchema(summarySchema) },
      },
    },
    async (request) => {
      const { mailbox } = await openMailbox(app, request, request.params.mailboxId);
      const { messages, nextCursor } = await access.call(mailbox, 'list', readListQuery(request.query));
      return envelope(messages.map(showSummary), nextCursor);
    },
  );
}

function readListQuery(query: ListQuery) {
  const {
    limit = DEFAULT_PAGE_SIZE,
    startingAfter,
    folder: name = 'inbox',
    receivedAfter,
    receivedBefore,
  } = query;
  return {
    folder: name,
    limit,
    after: startingAfter,
    isUnread: query.unread,
    isFlagged: query.flagged,
    from: query.from,
    to: query.to,
    subject: query.subject,
    text: query.q,
    since: receivedAfter === undefined ? undefined : readTime('receivedAfter', receivedAfter),
    before: receivedBefore === undefined ? undefined : readTime('receivedBefore', receivedBefore),
  };
}

function envelope<Item>(data: Item[], nextCursor: string | null) {
  return { data, hasMore: nextCursor !== null, nextCursor };
}

function registerMessage(server: FastifyInstance, app: ReadApp, access: MessageAccess): void {
  server.get<{ Params: ById }>(
    MESSAGE,
    {
      schema: {
        operationId: 'getMailboxMessage',
        summary: 'Retrieve a message of a mailbox',
        description:
          'Returns the message with its texts and a list of its attachments. The bytes of attachments are at `/attachments/{number}` below it. Reading it changes nothing: it stays unread.',
        tags: [TAG],
        ...paramsOf(MESSAGE),
        response: { 200: messageSchema },
      },
    },
    async (request) => {
      const { mailbox } = await openMailbox(app, request, request.params.mailboxId);
      const message = await access.call(mailbox, 'get', { id: messageIdOf(request.params) });
      const content = await parseStored({ ...app, access }, { mailbox, message }, { upToBytes: 0 });
      return showMessage(message, content);
    },
  );
}

function registerFiles(server: FastifyInstance, app: ReadApp, access: MessageAccess): void {
  const raw = `${MESSAGE}/raw`;
  server.get<{ Params: ById }>(
    raw,
    {
      schema: {
        operationId: 'getRawMailboxMessage',
        summary: 'Download a message of a mailbox',
        description: 'Returns the message as it is stored.',
        tags: [TAG],
        ...paramsOf(raw),
        response: { 200: binaryAnswer('message/rfc822', 'The message.') },
      },
    },
    async (request, reply) => {
      const { mailbox } = await openMailbox(app, request, request.params.mailboxId);
      const message = await access.call(mailbox, 'get', { id: messageIdOf(request.params) });
      const { sizeBytes, chunks } = openBytes(access, { mailbox, message });
      return sendMessageFile(reply, { name: message.id, sizeBytes, chunks: chunks() });
    },
  );
  const attachment = `${MESSAGE}/attachments/:number`;
  server.get<{ Params: ById & { number: string } }>(
    attachment,
    {
      schema: {
        operationId: 'getMailboxAttachment',
        summary: 'Download an attachment of a message of a mailbox',
        description: 'Returns the bytes of the file. Its media type and its name are in the message.',
        tags: [TAG],
        params: Type.Object({
          mailboxId: Type.String({ description: 'The id of the mailbox.' }),
          id: Type.String({ description: 'The id of the message.' }),
          number: Type.String({ description: 'The `id` of the attachment, which is its number from 1.' }),
        }),
        response: { 200: binaryAnswer('application/octet-stream', 'The file.') },
      },
    },
    async (request, reply) => {
      const { mailboxId, number } = request.params;
      const { mailbox } = await openMailbox(app, request, mailboxId);
      const message = await access.call(mailbox, 'get', { id: messageIdOf(request.params) });
      if (!FILE_NUMBER.test(number)) throw notFound('Attachment');
      const file = Number(number);
      const content = await parseStored({ ...app, access }, { mailbox, message }, { file });
      return sendReceivedFile(reply, fileOf(content, file));
    },
  );
}

const threadQuery = Type.Object({ ...page, folder });

function registerThreads(server: FastifyInstance, app: ReadApp, access: MessageAccess): void {
  const all = `${PATH}/threads`;
  server.get<{ Params: OfMailbox; Querystring: Static<typeof threadQuery> }>(
    all,
    {
      schema: {
        operationId: 'listMailboxThreads',
        summary: 'List the threads of a mailbox',
        description:
          'Groups the newest 5,000 messages of a folder by their References, together with the newest sent ones, and returns the threads with a message in the folder, those with the newest message first.',
        tags: [TAG],
        ...paramsOf(all),
        querystring: threadQuery,
        response: { 200: pageSchema(threadSummarySchema) },
      },
    },
    async (request) => {
      const { mailbox } = await openMailbox(app, request, request.params.mailboxId);
      const { limit = DEFAULT_PAGE_SIZE, startingAfter, folder: name = 'inbox' } = request.query;
      const asked = { folder: name, limit, after: startingAfter };
      const { threads, nextCursor } = await access.call(mailbox, 'listThreads', asked);
      return envelope(threads.map(showThread), nextCursor);
    },
  );
  const one = `${PATH}/threads/:id`;
  server.get<{ Params: ById }>(
    one,
    {
      schema: {
        operationId: 'getMailboxThread',
        summary: 'Retrieve a thread of a mailbox',
        description: 'Returns the thread that a message belongs to, with its messages, the oldest first.',
        tags: [TAG],
        ...paramsOf(one),
        response: { 200: threadSchema },
      },
    },
    async (request) => {
      const { mailbox } = await openMailbox(app, request, request.params.mailboxId);
      const thread = await access.call(mailbox, 'getThread', { id: messageIdOf(request.params) });
      return { ...showThread(thread), messages: thread.messages.map(showSummary) };
    },
  );
}
