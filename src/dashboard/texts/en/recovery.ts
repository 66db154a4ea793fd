/** Texts about the address with which the owner of a mailbox sets a new password, with the mail about it. */
export const recovery = {
  title: 'Recovery address',
  introduction:
    'When you have forgotten the password of this mailbox, a link for a new one is mailed to this address. Whoever reads the mail there can open this mailbox.',
  notOffered: 'Whoever manages your mailboxes does not allow it for this mailbox.',
  tooMany: 'Too many links were mailed; try again in an hour.',
  state: 'State',
  address: 'Address',
  otherAddress: 'Another address',
  addressHelp: 'An address of yours elsewhere, such as ann@example.com',
  confirmed: 'confirmed',
  unconfirmed: 'not confirmed',
  waits:
    'It waits for your confirmation: open the link in the mail within 30 minutes, or set the address again to get another one.',
  none: 'No recovery address is set.',
  set: 'Set the address and mail the link',
  remove: 'Remove the address',
  removeText: 'A forgotten password can then be set anew by whoever manages your mailboxes alone.',
  removeByManager:
    'Links that were mailed there do not work any more. The owner can set another address, unless the mailbox does not allow it.',
  forgot: 'Forgot the password of a mailbox?',
  forgotTitle: 'New password for a mailbox',
  forgotText:
    'If the mailbox has a confirmed recovery address, a link is mailed there, with which you set a new password. Without one, ask whoever manages your mailboxes.',
  forgotAddress: 'Address of the mailbox',
  forgotSubmit: 'Mail a link',
  confirmTitle: 'Confirm the recovery address',
  confirmText: (address: string, mailbox: string) =>
    `Links for a new password of ${mailbox} are mailed to ${address} from then on.`,
  confirm: 'Confirm',
  resetTitle: 'Set a new password',
  resetText: (mailbox: string) =>
    `The new password is for ${mailbox}. All mail programs and browsers are logged out. App passwords stay valid; look through them after you have logged in.`,
  wrongLinkText: 'Links work once, and for 30 minutes. The newest one counts.',
  again: 'Ask for another link',
  confirmMail: (mailbox: string, url: string) => ({
    subject: 'Confirm your recovery address',
    text: `The owner of the mailbox ${mailbox} has chosen this address to get links for a new password.\n\nIs that you? Then confirm it within 30 minutes:\n\n${url}\n\nIf it is not, you need not do anything.\n`,
  }),
  resetMail: (mailbox: string, url: string) => ({
    subject: 'New password for your mailbox',
    text: `Somebody, hopefully you, has asked for a new password of the mailbox ${mailbox}.\n\nSet it within 30 minutes:\n\n${url}\n\nIf it was not you, you need not do anything: the password stays as it is.\n`,
  }),
  confirmedMail: (mailbox: string) => ({
    subject: 'A recovery address was confirmed',
    text: `From now on, links for a new password of ${mailbox} are mailed to an address outside, which “Recovery address” in My mailbox shows.\n\nIf you have not set it, change your password and remove the address there.\n`,
  }),
  changedMail: (mailbox: string) => ({
    subject: 'The password of your mailbox was changed',
    text: `The password of ${mailbox} was set anew by a link that was mailed to its recovery address. All mail programs and browsers were logged out.\n\nIf it was not you, ask whoever manages your mailboxes for help at once.\n`,
  }),
};
