/** Emails that the API accepts, shows, reschedules and cancels; `api.ts` is the door, and `prepare.ts` with `commit.ts` for features that send mail. */
import type { Feature } from '../feature.ts';
import { registerEmailsApi } from './api.ts';
import { registerAttemptsApi } from './attempts-api.ts';
import { emailSteps } from './expire.ts';
import { registerOperatorSend } from './operator-send.ts';
import { registerTemplatePreview } from './preview-api.ts';
import { createIdempotencySweep } from './worker.ts';

export const emails = {
  name: 'emails',
  routes: [registerEmailsApi, registerAttemptsApi, registerTemplatePreview],
  // An email belongs to the domain that it is sent from.
  reach: {
    domain: [
      'sendEmail',
      'sendBatch',
      'listEmails',
      'getEmail',
  routes: [],
  // An email belongs to the domain that it is sent from.
  reach: {
    domain: [
      'getEmailAttempts',
      'rescheduleEmail',
      'cancelEmail',
      'getRawEmail',
      'checkEmail',
    ],
    ],
    tenant: ['previewTemplate'],
  },
  operatorRoutes: [registerOperatorSend],
  works: [createIdempotencySweep],
  retention: emailSteps,
} satisfies Feature;
