/**
 * Registers the routes over which commands import and export mail. They are served on the control socket alone, never on a network
 * port.
 */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { AddedMessage, MailboxContents } from '../../accounts/contents.ts';
import type { App } from '../../app.ts';
import { getNamedMailbox } from '../../mailboxes/named-mailbox.ts';
import { AppError } from '../../system/errors.ts';
import { MAX_RECORD_BYTES, RECORDS_TYPE, readRecords, writeRecord } from './records.ts';

/** A message to import, as the command names it. */
export type ImportRecord = Omit<AddedMessage, 'content'> & { folder: string };
/** A message that is exported. */
export type ExportRecord = { uid: number; flags: string[]; receivedAt: number };

/** Maximum number of messages of one request. Their ids alone take some kilobytes. */
export const MAX_MESSAGES = 200;
/** Size of the messages of one request, in bytes, unless it has only one. Each is in memory while it is stored. */
export const BATCH_BYTES = 8 * 1024 * 1024;
/** Maximum size of the body of an import: a batch that begins with small messages and ends with one of the largest. */
const MAX_BODY_BYTES = 2 * MAX_RECORD_BYTES;
/** Maximum length of a delivery id: a word and a SHA-256. */
const MAX_ID_CHARACTERS = 100;

/** The id or the address of a mailbox. */
type ByName = { Params: { name: string } };
type Slice = { folder: string; after: number };

const missingSchema = Type.Object({
  deliveryIds: Type.Array(Type.String({ maxLength: MAX_ID_CHARACTERS }), { maxItems: MAX_MESSAGES }),
});
const sliceSchema = Type.Object({ folder: Type.String(), after: Type.Integer({ minimum: 0 }) });

/** Registers `GET /mailboxes/:name/folders`, `GET` and `POST …/messages`, and `POST …/missing`. */
export function registerTransferAdmin(
  server: FastifyInstance,
  app: Pick<App, 'db'> & { mailboxContents: MailboxContents | undefined },
): void {
  const open = async (name: string) => ({
    id: (await getNamedMailbox(app, name)).id,
    contents: requireContents(app.mailboxContents),
  });
  const path = '/mailboxes/:name';
  server.get<ByName>(`${path}/folders`, async ({ params }) => {
    const mailbox = await open(params.name);
    return { folders: await mailbox.contents.listFolders(mailbox.id) };
  });
  server.get<ByName & { Querystring: Slice }>(
    `${path}/messages`,
    { schema: { querystring: sliceSchema } },
    async ({ params, query: { folder, after } }, reply) => {
      const mailbox = await open(params.name);
      const slice = { folder, afterUid: after, maxBytes: BATCH_BYTES };
      const messages = await mailbox.contents.read(mailbox.id, slice);
      const records = messages.flatMap(({ content, ...about }) => writeRecord(about, content));
      return reply.type(RECORDS_TYPE).send(Readable.from(records));
    },
  );
  server.post<ByName & { Body: { deliveryIds: string[] } }>(
    `${path}/missing`,
    { schema: { body: missingSchema } },
    async ({ params, body }) => {
      const mailbox = await open(params.name);
      return { missing: await mailbox.contents.findMissing(mailbox.id, body.deliveryIds) };
    },
  );
  server.addContentTypeParser(RECORDS_TYPE, (_request, payload, done) => done(null, payload));
  server.post<ByName & { Body: IncomingMessage }>(
    `${path}/messages`,
    { bodyLimit: MAX_BODY_BYTES },
    async ({ params, body }) => {
      const mailbox = await open(params.name);
      let added = 0;
      for await (const { folder, messages } of byFolder(body))
        added += (await mailbox.contents.add(mailbox.id, { folder, messages })).added;
      return { added };
    },
  );
}

/** Yields the messages of a body in groups that go to the same folder. */
async function* byFolder(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ folder: string; messages: AddedMessage[] }> {
  let messages: AddedMessage[] = [];
  let current: string | undefined;
  for await (const { about, content } of readRecords<ImportRecord>(body)) {
    const { folder, deliveryId, flags, receivedAt } = about;
    if (current !== undefined && current !== folder) {
      yield { folder: current, messages };
      messages = [];
    }
    current = folder;
    messages.push({ deliveryId, flags, receivedAt, content });
  }
  if (current !== undefined) yield { folder: current, messages };
}

/**
 * Returns the contents of mailboxes, which only a running daemon can read.
 * @throws AppError invalid_state
 */
function requireContents(contents: MailboxContents | undefined): MailboxContents {
  if (contents) return contents;
  throw new AppError('invalid_state', 'No daemon is running here; start it first (npm start)');
}
