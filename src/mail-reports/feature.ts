/** Mail that programs read: bounces, complaints, requests to unsubscribe, and reports; this file is the door. */
import type { App } from '../app.ts';
import type { Feature } from '../feature.ts';
import type { Replies } from '../queue/outcome/replies/replies.ts';
import { createComplaintKind } from './complaints.ts';
import { createDmarcReportWork } from './dmarc-reports/work.ts';
import { registerReportsApi } from './reports/api.ts';
import { createReportKind } from './reports/work.ts';
import { createBounceKind } from './returned-mail.ts';
import { createTlsReportWork } from './tls-reports/work.ts';
import { createUnsubscribeKind } from './unsubscribe.ts';

export const mailReports = {
  name: 'mail-reports',
  ids: ['rep'],
  routes: [registerReportsApi],
  reach: { domain: ['listDomainReports', 'sumDomainReports'] },
  works: [createDmarcReportWork, createTlsReportWork],
  tasks: [
    (app: App & { replies: Replies }) => createBounceKind(app, app.replies),
    (app: App & { replies: Replies }) => createComplaintKind(app, app.replies),
    createUnsubscribeKind,
    createReportKind,
  ],
} satisfies Feature;
