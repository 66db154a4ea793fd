/** Section 3: states and transitions. */
import type { Section } from './table.ts';

export const STATES: readonly Section[] = [
  {
    title: '3 States and transitions',
    statements: {
      'an accepted email is queued: the answer is its id and that status':
        'emails/send.test.ts: an accepted email answers its id and status alone, with a request id',
      'an accepted email has the event email.queued':
        'emails/accept.test.ts: an accepted email is queued once for each recipient, with an event for each',
      'an email is queued, sent, delivered, bounced, complained or canceled':
        'emails/statuses.test.ts: an email with each of the six statuses is shown with it and found by it',
      'a broadcast made without scheduleAt is a draft':
        'broadcasts/api.test.ts: a broadcast is created as a draft with its whole record, and retrieved the same',
      'a draft that is sent becomes sending, and is answered so':
        'broadcasts/sending/sending.test.ts: each contact gets the broadcast once, with values of its own',
      'a broadcast that is no draft any more is not sent':
        'broadcasts/sending/sending.test.ts: of two requests to send, one starts the broadcast',
      'a created domain is pending, and so are its three records':
        'domains/api.test.ts: a domain is created with its three records, all pending',
      'verifying a pending domain asks DNS again and updates the statuses of its records':
        'domains/api.test.ts: published records verify, with a CNAME or with a TXT key',
      'a created webhook endpoint is enabled, and its secret is returned':
        'webhooks/api.test.ts: an endpoint is created enabled, with its secret, and answers to its id without it',
    },
  },
];
