/** Texts about the senders of the mail in the folder for spam. */
export const spamSenders = {
  title: 'Spam',
  introduction: (messages: string) =>
    `The senders of the newest mail in your folder for spam, of which the last ${messages} messages are read. Anybody can write any sender into a message, so let in only those whose mail you miss.`,
  effect:
    'Your choice is a rule before all others, which then do not look at the mail of this sender. Mail that lies in a folder already stays there.',
  caption: 'Senders of the newest mail in the folder for spam',
  none: 'Nothing lies in the folder for spam.',
  sender: 'Sender',
  messages: 'Messages',
  last: 'Last one',
  choice: 'Your choice',
  choices: { never: 'never spam', always: 'always spam', none: 'as the server decides' },
  never: 'Never spam',
  always: 'Always spam',
  clear: 'Let the server decide',
  otherTitle: 'Another sender',
  address: 'Address',
  addressHelp: 'The whole address, such as ann@example.com',
  chosenTitle: 'Chosen senders',
  chosenCaption: 'Senders with a choice of yours',
  rules: 'All rules',
};
