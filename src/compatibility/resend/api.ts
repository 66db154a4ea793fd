/** Resend's API, for programs that use its clients: the same program works with `RESEND_BASE_URL` and a key of this server. */
import type { FastifyInstance } from 'fastify';
import type { App } from '../../app.ts';
import type { ForeignApi } from '../../feature.ts';
import type { Operations } from '../../http/json/collect-operations.ts';
import { apiKeyCalls } from './api-keys.ts';
import { broadcastCalls } from './broadcasts/calls.ts';
import type { Call } from './call.ts';
import { contactCalls } from './contacts/calls.ts';
import { segmentCalls } from './contacts/segment-calls.ts';
import { domainCalls } from './domains.ts';
import { attachmentCalls } from './emails/attachments.ts';
import { emailCalls } from './emails/calls.ts';
import { receivingCalls } from './emails/receiving.ts';
import { showProblem } from './problem.ts';
import { type CallApp, registerCalls } from './register.ts';
import { suppressionCalls } from './suppressions.ts';
import { templateCalls } from './templates/calls.ts';
import { topicCalls } from './topics.ts';
import { PREFIX } from './unsupported.ts';
import { webhookEventCalls } from './webhook-events.ts';
import { webhookCalls } from './webhooks.ts';

/** Every call that is answered. */
export const CALLS: readonly Call[] = [
  ...emailCalls,
  ...attachmentCalls,
  ...receivingCalls,
  ...domainCalls,
  ...apiKeyCalls,
  ...contactCalls,
  ...segmentCalls,
  ...topicCalls,
  ...broadcastCalls,
  ...templateCalls,
  ...suppressionCalls,
  ...webhookCalls,
  ...webhookEventCalls,
];

export const resendApi = {
  prefix: PREFIX,
  showProblem,
  isOn: ({ config }: Pick<App, 'config'>) => config.compatibility.resend,
  register: (scope: FastifyInstance, app: CallApp, operations: Operations) =>
    registerCalls(scope, app, { calls: CALLS, operations }),
} satisfies ForeignApi;
