/** Texts of the pages about suppressed addresses. */
export const suppressions = {
  title: 'Suppressions',
  text: 'No mail is sent to these addresses, in either mode.',
  none: 'No address is suppressed.',
  add: 'Add addresses',
  email: 'Address',
  emails: 'Addresses',
  emailsHelp: (maximum: string) => `One on each line, or between commas; at most ${maximum}`,
  fileInstead: 'Import a file instead',
  reason: 'Reason',
  reasons: {
    manual: 'added by hand',
    bounce: 'bounced',
    complaint: 'complained',
    unsubscribe: 'unsubscribed',
  },
  source: 'Cause',
  sourceEmail: 'Email',
  createdAt: 'Since',
  deleteText: {
    manual: 'Mail is sent to this address again.',
    bounce:
      'Mail is sent to this address again. If it still does not exist, it bounces, which harms your reputation.',
    complaint:
      'Mail is sent to this address again, although its owner has reported mail as spam. Do this only when the owner asks for it.',
    unsubscribe:
      'Mail is sent to this address again, although its owner has unsubscribed. Do this only when the owner asks for it.',
  },
  deleteNow: 'Send to this address again',
  added: 'Addresses added',
  created: 'New',
  known: 'Suppressed before',
  refused: 'Refused',
  error: 'Why',
  back: 'Back to the suppressions',
  files: 'Import and export',
  import: 'Import a file',
  importText: (maximum: string) =>
    `A CSV file of at most ${maximum}, from here or from another product: the columns for the address, the reason, the reply and the time are recognised.`,
  file: 'File',
  defaultReason: 'Reason of rows that name none',
  export: 'Export to a file',
  imports: 'Imports of the last days',
  exports: 'Exports of the last days',
};
