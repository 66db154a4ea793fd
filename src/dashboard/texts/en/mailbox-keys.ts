/** Texts about the API keys that reach the messages of a mailbox. */
export const mailboxKeys = {
  title: 'API keys',
  introduction:
    'With an API key, a program such as an assistant reads the mail in this mailbox, and does with it what you allow. It can be revoked alone. Only you and the operator of the server make keys for your mail; the administrators of your mail do not.',
  caption: 'API keys of this mailbox',
  none: 'No API keys yet.',
  name: 'Name',
  nameHelp: 'Name of the program, such as Assistant',
  hint: 'Begins with',
  access: 'The program may',
  accesses: {
    read: 'read all mail',
    drafts: 'read, mark and move mail, and write drafts, which you send',
    send: 'read, mark and move mail, and send mail in your name',
  },
  lastUsed: 'Last used',
  expires: 'Valid until',
  expiresOn: 'Last day on which it is valid',
  expiresHelp: 'In UTC; without a day, it is valid until it is revoked',
  create: 'Create an API key',
  revoke: 'Revoke',
  shownTitle: 'The new API key',
  shownText: 'Enter it in the program. It is not shown again: only its hash is stored.',
  mailboxId: 'Id of the mailbox',
  back: 'Back',
};
