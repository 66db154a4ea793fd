/** Mail that programs read: bounces, complaints, requests to unsubscribe, and reports; this file is the door. */
import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import type { Replies } from '../queue/outcome/replies/replies.ts';
import { createBounceWork } from './bounces.ts';
import { createComplaintWork } from './complaints.ts';
import { createDmarcReportWork } from './dmarc-reports/work.ts';
import { registerReportsApi } from './reports/api.ts';
import { createReportWork } from './reports/work.ts';
import { createUnsubscribeWork } from './unsubscribe.ts';

export const mailReports = {
  name: 'mail-reports',
  ids: ['rep'],
  routes: [registerReportsApi],
  reach: { domain: ['listDomainReports'] },
  works: [
    (app: App & { replies: Replies }) => createBounceWork(app, app.replies),
    (app: App & { replies: Replies }) => createComplaintWork(app, app.replies),
    createUnsubscribeWork,
    createDmarcReportWork,
    createReportWork,
  ],
} satisfies Feature;
