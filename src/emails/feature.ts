/** Emails that the API accepts, shows, reschedules and cancels; `api.ts` is the door, and `prepare.ts` with `commit.ts` for features that send mail. */

import type { App } from '../app.ts';
import { createExpiryKind } from '../approvals/expiry.ts';
import type { Feature } from '../feature.ts';
import { registerEmailsApi } from './api.ts';
import { expireEmailApproval } from './approval.ts';
import { registerEmailApprovalApi } from './approval-api.ts';
import { registerAttemptsApi } from './attempts-api.ts';
import { emailSteps } from './expire.ts';
import { registerOperatorSend } from './operator-send.ts';
import { registerTemplatePreview } from './preview-api.ts';
import { createIdempotencySweep } from './worker.ts';

export const emails = {
  name: 'emails',
  routes: [registerEmailsApi, registerAttemptsApi, registerTemplatePreview, registerEmailApprovalApi],
  // An email belongs to the domain that it is sent from.
  reach: {
    domain: [
      ...[
        'sendEmail',
        'sendBatch',
        'listEmails',
        'searchEmailSubjects',
        'getEmail',
        'rescheduleEmail',
        'cancelEmail',
      ],
      ...[
        'getEmailAttempts',
        'getRawEmail',
        'getEmailAttachment',
        'checkEmail',
        'approveEmail',
        'declineEmail',
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
