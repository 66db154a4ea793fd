/** The mail in one mailbox over HTTP, for keys that name the mailbox; `api.ts` is the door. */
import type { Feature } from '../feature.ts';
import { registerMailboxMessages } from './api.ts';

export const mailboxMessages = {
  name: 'mailbox-messages',
  routes: [registerMailboxMessages],
  reach: {
    mailbox: [
      'listMailboxFolders',
      'listMailboxMessages',
      'getMailboxMessage',
      'getRawMailboxMessage',
      'getMailboxAttachment',
      'listMailboxThreads',
      'getMailboxThread',
      'updateMailboxMessage',
      'createMailboxDraft',
      'sendMailboxDraft',
    ],
  },
  // The owner of the mailbox sends the drafts of such a key, which approves them.
  beyondApproval: ['sendMailboxDraft'],
} satisfies Feature;
