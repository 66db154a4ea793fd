/** Delivery of received mail to mailboxes, their scripts, and forwarding; `directory.ts` is the door at RCPT, `work.ts` for tasks. */
import type { Feature } from '../feature.ts';
import { createNotificationKind } from './forward/notify.ts';
import { createForwardKind } from './forward/work.ts';
import { createSenderReportKind } from './sender-reports/work.ts';
import { createMailboxKind } from './work.ts';

export const mailboxDelivery = {
  name: 'mailbox-delivery',
  tasks: [createForwardKind, createMailboxKind, createNotificationKind, createSenderReportKind],
} satisfies Feature;
