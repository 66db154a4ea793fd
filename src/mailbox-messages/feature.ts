/** The mail in one mailbox over HTTP, for keys that name the mailbox; `api.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerReadApi } from './read-api.ts';

export const mailboxMessages = {
  name: 'mailbox-messages',
  routes: [registerReadApi],
  reach: {
    mailbox: [
      'listMailboxFolders',
      'listMailboxMessages',
      'getMailboxMessage',
      'getRawMailboxMessage',
      'getMailboxAttachment',
      'listMailboxThreads',
      'getMailboxThread',
    ],
  },
} satisfies Feature;
