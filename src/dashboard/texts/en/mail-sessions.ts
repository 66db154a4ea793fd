/** Texts about the mail programs that are logged in to a mailbox. */
export const mailSessions = {
  title: 'Mail programs',
  caption: 'Mail programs that are connected now',
  introduction:
    'A program that you disconnect connects again by itself as long as it knows a valid password. To keep it out, change the password of the mailbox, or revoke the one that it has logged in with:',
  none: 'No mail program is connected at the moment.',
  service: 'Service',
  program: 'Program',
  unknown: 'has not said',
  address: 'Address',
  password: 'Logged in with',
  ownPassword: 'password of the mailbox',
  since: 'Since',
  end: 'Disconnect',
  endAll: 'Disconnect all',
  reload: 'Look again',
};
