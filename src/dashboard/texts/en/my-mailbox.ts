/** Texts of the pages for the owner of a mailbox. */
export const myMailbox = {
  overview: 'Overview',
  managed:
    'The administrators of your mail can set this password and create app passwords, with which your mail can be read. All of them are listed under',
  vacation: 'Automatic reply',
  vacationText:
    'Each sender gets it at most once in 7 days. Mailing lists, programs and spam get none, and neither does mail that does not name your address in To or Cc.',
  vacationIsOn: 'set',
  vacationIsOff: 'not set',
  from: (zone: string) => `From (${zone})`,
  fromHelp: 'At once when it is empty',
  until: (zone: string) => `Until (${zone})`,
  untilHelp: 'Without end when it is empty',
  subject: 'Subject',
  subjectHelp: 'When it is empty, the subject of the message with “Auto: ” in front',
  text: 'Text of the reply',
  vacationEnd: 'End the automatic reply',
  forwarding: 'Forwarding',
  forwardingText: 'All mail to this mailbox is also sent to these addresses.',
  forwardTo: 'Addresses',
  forwardToHelp: 'One on each line, at most 4 together with those of the rules',
  keepCopy: 'Keep a copy in this mailbox',
  keepCopyHelp: 'Without it, forwarded mail is not stored here, and the rules are not applied.',
  security: 'Password and sessions',
  passwordText:
    'Another password disconnects the mail programs that have the old one, and ends all other sessions. App passwords stay valid.',
};
