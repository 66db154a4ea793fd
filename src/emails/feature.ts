/** Emails that the API accepts, shows, reschedules and cancels; `api.ts` is the door, and `prepare.ts` with `commit.ts` for features that send mail. */
import type { App } from '../app.ts';
import { createExpiryKind } from '../approvals/expiry.ts';
import type { Feature } from '../feature.ts';
import { registerEmailsApi } from './api.ts';
  routes: [registerAttemptsApi, registerEmailApprovalApi],
  // An email belongs to the domain that it is sent from.
  reach: {
    domain: [
    ],
import { emailSteps } from './expire.ts';
import { registerOperatorSend } from './operator-send.ts';
import { registerTemplatePreview } from './preview-api.ts';
import { createIdempotencySweep } from './worker.ts';

export const emails = {
  name: 'emails',
<<<<<<< HEAD
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
=======
  routes: [registerEmailsApi, registerTemplatePreview, registerEmailApprovalApi],
  // An email belongs to the domain that it is sent from.
  reach: {
    domain: [
      ...['sendEmail', 'sendBatch', 'listEmails', 'getEmail', 'rescheduleEmail', 'cancelEmail'],
      ...['getRawEmail', 'checkEmail', 'approveEmail', 'declineEmail'],
>>>>>>> ccc3c643 (approvals: mail of marked keys waits until a person approves it)
    ],
    ],
    tenant: ['previewTemplate'],
  },
  beyondApproval: ['approveEmail', 'declineEmail'],
  operatorRoutes: [registerOperatorSend],
  works: [createIdempotencySweep],
  tasks: [(app: App) => createExpiryKind(app, 'email', expireEmailApproval)],
  retention: emailSteps,
} satisfies Feature;
