/** `PATCH /v1/mailboxes/{id}/messages/{id}` and `/drafts`: sets marks, moves messages, and writes and sends drafts. */
import type { FastifyInstance } from 'fastify';
import { readIdempotencyKey } from '../emails/idempotency/key.ts';
import { idempotencyHeader } from '../emails/schemas.ts';
import { paramsOf } from '../http/json/resource.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { openMailbox } from './access.ts';
import { draftClaimOf } from './draft-claim.ts';
import {
  type MessageChangeBody,
  messageChangeSchema,
  type NewDraft,
  newDraftSchema,
} from './draft-schemas.ts';
import { createDraft, type DraftApp, sendDraft } from './drafts.ts';
import { messageIdOf } from './read-api.ts';
import { showSummary, summarySchema } from './schemas.ts';

type OfMailbox = { mailboxId: string };
type ById = OfMailbox & { id: string };

const TAG = 'Mailbox messages';
const PATH = '/mailboxes/:mailboxId';

/** Registers the routes that write. */
export function registerWriteApi(server: FastifyInstance, app: DraftApp): void {
  registerUpdate(server, app);
  registerDrafts(server, app);
  registerSend(server, app);
}

function registerUpdate(server: FastifyInstance, app: DraftApp): void {
  const path = `${PATH}/messages/:id`;
  server.patch<{ Params: ById; Body: MessageChangeBody }>(
    path,
    {
      schema: {
        operationId: 'updateMailboxMessage',
        summary: 'Mark or move a message of a mailbox',
        description:
          'Sets marks, and moves the message to another folder. Mail programs see it at once. To delete a message, move it to `trash`, which its owner empties.',
        tags: [TAG],
        ...paramsOf(path),
        body: messageChangeSchema,
        response: { 200: summarySchema },
      },
    },
    async (request) => {
      const { mailbox } = await openMailbox(app, request, request.params.mailboxId);
      const { unread, flagged, folder } = request.body;
      const change = { id: messageIdOf(request.params), isUnread: unread, isFlagged: flagged, folder };
      return showSummary(await app.access.call(mailbox, 'update', change));
    },
  );
}

function registerDrafts(server: FastifyInstance, app: DraftApp): void {
  const path = `${PATH}/drafts`;
  server.post<{ Params: OfMailbox; Body: NewDraft }>(
    path,
    {
      config: { refuses: ['idempotency_conflict', 'invalid_state'] },
      schema: {
        operationId: 'createMailboxDraft',
        summary: 'Write a draft in a mailbox',
        description:
          'Makes a draft, which may answer or forward a message of the mailbox. It is in the folder of drafts, where its owner can read, change and send it.',
        tags: [TAG],
        headers: idempotencyHeader,
        ...paramsOf(path),
        body: newDraftSchema,
        response: { 201: summarySchema },
      },
    },
    async (request, reply) => {
      const login = await openMailbox(app, request, request.params.mailboxId);
      const key = readIdempotencyKey(request.raw.rawHeaders);
      const { tenantId, mode } = callerOf(request);
      const owner = { tenantId, mode, now: app.clock.now() };
      const wanted = request.body;
      const claim = key === undefined ? undefined : draftClaimOf(login.mailbox, { key, wanted, owner });
      const draft = await createDraft(app, login, { wanted, claim });
      return reply.code(201).send(showSummary(draft));
    },
  );
}

function registerSend(server: FastifyInstance, app: DraftApp): void {
  const path = `${PATH}/drafts/:id/send`;
  server.post<{ Params: ById }>(
    path,
    {
      config: { refuses: ['invalid_state', 'domain_not_verified', 'suppressed_recipient', 'quota_exceeded'] },
      schema: {
        operationId: 'sendMailboxDraft',
        summary: 'Send a draft of a mailbox',
        description:
          'Sends a draft to the recipients in its header, as submission at port 587 does, and files it in the folder of sent mail. It is sent once, however often this is asked for: a draft that was sent before is answered as it is now. A key whose mail requires approval cannot send: the owner sends its drafts.',
        tags: [TAG],
        headers: idempotencyHeader,
        ...paramsOf(path),
        response: { 200: summarySchema },
      },
    },
    async (request) => {
      const login = await openMailbox(app, request, request.params.mailboxId);
      return showSummary(await sendDraft(app, login, { id: messageIdOf(request.params), request }));
    },
  );
}
