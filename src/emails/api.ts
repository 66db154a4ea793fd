/** The emails resource: send, send a batch, retrieve, list, cancel, reschedule (specification 4.1). */

import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import { cacheNamedDomains } from '../domains/named-domains.ts';
import { refuseImmutable } from '../http/json/immutable-fields.ts';
import { checkedByItem } from '../http/json/items.ts';
import { MAX_TEXT_MIB } from '../http/json/json-body.ts';
import { detachedOf } from '../http/json/large-strings.ts';
import { listEnvelope, pageRequest } from '../http/json/page.ts';
import { paramsOf } from '../http/json/resource.ts';
import { whileAwaited } from '../http/transport/client-disconnect.ts';
import { createLinks } from '../links/links.ts';
import { createMessageParser } from '../mail/message/parse/parser.ts';
import type { HandOver } from '../queue/contents/handed.ts';
import type { ExplainWaiting } from '../queue/waiting.ts';
import type { ByteBudget } from '../system/guards/byte-budget.ts';
import { callerOf, keyCheckOf } from '../tenants/authenticate.ts';
import { registerAttachment } from './attachment-api.ts';
import { createAttachmentFiles } from './attachment-files.ts';
import { type Batch, createBatchWrites, MAX_BATCH_TEXT_MIB, sendBatch } from './batch.ts';
import { isStrictBatch } from './batch-mode.ts';
import { cancelEmail, rescheduleEmail } from './change.ts';
import { registerCheck } from './check/api.ts';
import { createChecker } from './check/checker.ts';
import { createDownloads } from './download.ts';
import { holdTextFor } from './hold-text.ts';
import { readBatchClaim, readSendClaim } from './idempotency/claim.ts';
import { createInFlight } from './idempotency/in-flight.ts';
import { listEmails, readFilter } from './list/read.ts';
import { createMessageTexts } from './message-texts.ts';
import { findFor, getTexts, type ShowApp, show } from './open-email.ts';
import { registerRaw } from './raw/api.ts';
import { createRawMessages } from './raw/open.ts';
import {
  batchSchema,
  type EmailListQuery,
  emailListQuery,
  idempotencyHeader,
  MAX_BATCH_BODY_BYTES,
  type RescheduleBody,
  rescheduleSchema,
  type SendBody,
  sendSchema,
} from './schemas.ts';
import { type SendApp, sendEmail } from './send.ts';
import { sentBatchSchema, sentSchema } from './sent-schemas.ts';
import { emailPageSchema, emailSchema, showSummary } from './show.ts';
import { registerSubjects } from './subjects-api.ts';

const tags = ['Emails'];
const ONE = '/emails/:id';
const CANCEL = `${ONE}/cancel`;
const REPEATED = ['idempotency_conflict', 'idempotency_in_progress'] as const;

/** Registers the routes of the emails resource. */
export function registerEmailsApi(
  server: FastifyInstance,
  app: App & { bodies: ByteBudget; explainWaiting: ExplainWaiting; handOver: HandOver },
): void {
  const sending = {
    ...app,
    downloads: createDownloads(app),
    inFlight: createInFlight(app.clock),
    links: createLinks(app),
    findDomain: cacheNamedDomains(app),
  };
  const rawMessages = createRawMessages(sending);
  // The threads of the parser start when they are first needed.
  const parser = createMessageParser(app, app.htmlText);
  const showing = {
    ...app,
    rawMessages,
    messageTexts: createMessageTexts(app, parser),
    attachmentFiles: createAttachmentFiles(parser),
    checker: createChecker(app),
  };
  server.addHook('onClose', () => parser.close());
  server.addHook('onClose', () => showing.checker.close());
  registerSend(server, sending);
  registerBatch(server, sending);
  registerRetrieve(server, showing);
  registerList(server, app);
  registerSubjects(server, app);
  registerCancel(server, showing);
  registerReschedule(server, showing);
  registerRaw(server, showing);
  registerAttachment(server, showing);
  registerCheck(server, showing);
}

function registerSend(server: FastifyInstance, app: SendApp): void {
  server.post<{ Body: SendBody }>(
    '/emails',
    {
      config: {
        needs: 'send',
        detachesContent: true,
        refuses: [...REPEATED, 'domain_not_verified', 'suppressed_recipient', 'quota_exceeded'],
      },
      schema: {
        operationId: 'sendEmail',
        summary: 'Send an email',
        description:
          'The response is sent once the email is stored on disk. Delivery begins right after, or at `scheduledAt`.',
        tags,
        headers: idempotencyHeader,
        body: sendSchema,
        response: { 200: sentSchema },
      },
    },
    async (request, reply) => {
      const { replayed, response } = await sendEmail(app, callerOf(request), {
        body: request.body,
        detached: detachedOf(request),
        idempotency: await readSendClaim(app, request),
        holdText: holdTextFor(request),
        requireValidKey: keyCheckOf(request),
      });
      if (replayed) reply.header('idempotency-replayed', 'true');
      return response;
    },
  );
}

function registerBatch(server: FastifyInstance, app: SendApp): void {
  const { validatorCompiler, check } = checkedByItem(server, batchSchema, 'emails');
  const sending = { ...app, batchWrites: createBatchWrites() };
  server.post<{ Body: Batch['body'] }>(
    '/emails/batch',
    {
      bodyLimit: MAX_BATCH_BODY_BYTES,
      config: { needs: 'send', detachesContent: true, refuses: REPEATED },
      validatorCompiler,
      schema: {
        operationId: 'sendBatch',
        summary: 'Send up to 100 emails',
        description:
          'The response is sent once all accepted emails are stored on disk. An email that is refused has an error in its item ' +
          'and does not affect the others. An Idempotency-Key applies to the batch as a whole. ' +
          `Apart from its attachments, the body may have at most ${MAX_TEXT_MIB} MiB. The rendered content of its emails may have at most ` +
          `${MAX_BATCH_TEXT_MIB} MiB together.`,
        tags,
        headers: idempotencyHeader,
        body: batchSchema,
        response: { 200: sentBatchSchema },
      },
    },
    async (request, reply) => {
      const { replayed, response } = await sendBatch(sending, callerOf(request), {
        body: request.body,
        check,
        detached: detachedOf(request),
        idempotency: await readBatchClaim(app, request),
        holdText: holdTextFor(request),
        requireValidKey: keyCheckOf(request),
        isStrict: isStrictBatch(request),
      });
      if (replayed) reply.header('idempotency-replayed', 'true');
      return response;
    },
  );
}

function registerRetrieve(server: FastifyInstance, app: ShowApp): void {
  server.get<{ Params: { id: string } }>(
    ONE,
    {
      config: { needs: 'emails' },
      schema: {
        operationId: 'getEmail',
        summary: 'Retrieve an email',
        description: 'Returns the email with its content, the state of each recipient and its events.',
        tags,
        ...paramsOf(ONE),
        response: { 200: emailSchema },
      },
    },
    async (request) => {
      const head = await findFor(app, request);
      return show(app, head, await getTexts(app, request, head));
    },
  );
}

function registerList(server: FastifyInstance, app: App): void {
  server.get<{ Querystring: EmailListQuery }>(
    '/emails',
    {
      config: { needs: 'emails' },
      schema: {
        operationId: 'listEmails',
        summary: 'List emails',
        description: 'Returns the newest first. An email must match all given filters.',
        tags,
        querystring: emailListQuery,
        response: { 200: emailPageSchema },
      },
    },
    async (request) => {
      const { tenantId, mode, domainId } = callerOf(request);
      const page = pageRequest(request.query, 'em');
      const filters = { tenantId, mode, domainId, filter: readFilter(request.query) };
      const emails = await whileAwaited(request, (gone) => listEmails({ db: app.db, gone }, filters, page));
      return listEnvelope(request.query, emails, showSummary);
    },
  );
}

function registerCancel(server: FastifyInstance, app: ShowApp): void {
  server.post<{ Params: { id: string } }>(
    CANCEL,
    {
      config: { needs: 'send', refuses: ['invalid_state'], worksOnLowDisk: true },
      schema: {
        operationId: 'cancelEmail',
        summary: 'Cancel an email',
        description:
          'Cancels the recipients that wait for their first or for another attempt, or are held. Recipients who have received the email keep it. ' +
          'While the email is being sent to a recipient, the request is refused with 409. Returns the email.',
        tags,
        ...paramsOf(CANCEL),
        response: { 200: emailSchema },
      },
    },
    async (request) => {
      const head = await findFor(app, request);
      const texts = await getTexts(app, request, head);
      await cancelEmail(app, head);
      return show(app, head, texts);
    },
  );
}

function registerReschedule(server: FastifyInstance, app: ShowApp): void {
  server.patch<{ Params: { id: string }; Body: RescheduleBody }>(
    ONE,
    {
      config: { needs: 'send', refuses: ['invalid_state', 'quota_exceeded'] },
      preValidation: refuseImmutable([sendSchema, emailSchema], rescheduleSchema),
      schema: {
        operationId: 'rescheduleEmail',
        summary: 'Reschedule an email',
        description:
          'Changes the time of an email as long as no delivery was attempted. One that waits for approval, or was approved, asks again. Returns the email.',
        tags,
        ...paramsOf(ONE),
        body: rescheduleSchema,
        response: { 200: emailSchema },
      },
    },
    async (request) => {
      const head = await findFor(app, request);
      const texts = await getTexts(app, request, head);
      await rescheduleEmail(app, callerOf(request), { email: head, body: request.body });
      return show(app, head, texts);
    },
  );
}
