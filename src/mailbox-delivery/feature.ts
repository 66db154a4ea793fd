/** Delivery of received mail to mailboxes, their scripts, and forwarding; `directory.ts` is the door at RCPT, `work.ts` for tasks. */
import type { Feature } from '../feature.ts';
import { createNotificationWork } from './forward/notify.ts';
import { createForwardWork } from './forward/work.ts';
import { createMailboxWork } from './work.ts';

export const mailboxDelivery = {
  name: 'mailbox-delivery',
  works: [createForwardWork, createNotificationWork, createMailboxWork],
} satisfies Feature;
