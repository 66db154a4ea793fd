/** Texts of the pages about emails that were sent. */
export const emails = {
  overview: 'Overview',
  title: 'Emails',
  none: 'No emails yet. Send one with the API, or send a test.',
  subject: 'Subject',
  from: 'From',
  to: 'To',
  tag: 'Tag (name:value)',
  status: 'Status',
  statuses: {
    queued: 'queued',
    sent: 'sent',
    delivered: 'delivered',
    bounced: 'bounced',
    complained: 'complained',
    canceled: 'canceled',
  },
  createdAt: 'Created',
};
