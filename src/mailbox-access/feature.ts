/** Listeners and logins of IMAP, POP3 and ManageSieve; `service.ts` is the door. */
import type { Feature } from '../feature.ts';
import { createMailboxStart, type Mailboxes } from './service.ts';

export const mailboxAccess = {
  name: 'mailbox-access',
  works: [(app: { mailboxes: Mailboxes }) => createMailboxStart(app.mailboxes)],
} satisfies Feature;
