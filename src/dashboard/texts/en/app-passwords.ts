/** Texts about the app passwords of a mailbox. */
export const appPasswords = {
  title: 'App passwords',
  introduction:
    'An app password is for one mail program or device. It can be revoked alone, which disconnects the programs that use it. It does not open these pages.',
  caption: 'App passwords of this mailbox',
  none: 'No app passwords yet.',
  name: 'Name',
  nameHelp: 'Name of the program or device, such as Thunderbird on the laptop',
  hint: 'Begins with',
  member: 'For the member',
  protocols: 'Valid for',
  lastUsed: 'Last used',
  expires: 'Valid until',
  expiresOn: 'Last day on which it is valid',
  expiresHelp: 'In UTC; without a day, it is valid until it is revoked',
  create: 'Create an app password',
  revoke: 'Revoke',
  shownTitle: 'The new app password',
  shownText:
    'Enter it in the mail program in the place of the password. It is not shown again: only its hash is stored.',
  back: 'Back',
};
