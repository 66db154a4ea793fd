import type { emails as english } from '../en/emails.ts';

/** Texts of the pages about emails that were sent. */
export const emails: typeof english = {
  overview: 'Übersicht',
  title: 'E-Mails',
  none: 'Noch keine E-Mails. Senden Sie eine über die API, oder senden Sie einen Test.',
  subject: 'Betreff',
  from: 'Von',
  to: 'An',
  tag: 'Tag (Name:Wert)',
  status: 'Status',
  statuses: {
    queued: 'wartet',
    sent: 'gesendet',
    delivered: 'zugestellt',
    bounced: 'unzustellbar',
    complained: 'beschwert',
    canceled: 'abgebrochen',
  },
  recipientStatuses: {
    queued: 'wartet',
    sent: 'wird gesendet',
    deferred: 'verschoben',
    held: 'angehalten',
    delivered: 'zugestellt',
    bounced: 'unzustellbar',
    complained: 'beschwert',
    suppressed: 'gesperrt',
    canceled: 'abgebrochen',
  },
  sendTest: 'Test senden',
  createdAt: 'Angelegt',
};
