import type { emails as english } from '../en/emails.ts';

/** Texts of the pages about emails that were sent. */
export const emails: typeof english = {
  overview: 'Übersicht',
  title: 'E-Mails',
  none: 'Noch keine E-Mails. Senden Sie eine über die API, oder senden Sie einen Test.',
  ofTestKeys: 'E-Mails von Test-Schlüsseln stehen im Test-Modus.',
  subject: 'Betreff',
  from: 'Von',
  to: 'An',
  tag: 'Schlagwort (Name:Wert)',
  since: 'Angelegt ab',
  until: 'Angelegt bis',
  recipientStatus: 'Ein Empfänger ist',
  status: 'Status',
  statuses: {
    queued: 'wartet',
    sent: 'gesendet',
    delivered: 'zugestellt',
    bounced: 'unzustellbar',
    complained: 'als Spam gemeldet',
    canceled: 'abgebrochen',
  },
  recipientStatuses: {
    queued: 'wartet',
    sent: 'wird gesendet',
    deferred: 'aufgeschoben',
    held: 'zurückgehalten',
    delivered: 'zugestellt',
    bounced: 'unzustellbar',
    complained: 'als Spam gemeldet',
    suppressed: 'gesperrt',
    canceled: 'abgebrochen',
  },
  sendTest: 'Test senden',
  createdAt: 'Angelegt',
};
