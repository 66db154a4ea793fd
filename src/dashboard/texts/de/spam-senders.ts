import type { spamSenders as english } from '../en/spam-senders.ts';

/** Texts about the senders of the mail in the folder for spam. */
export const spamSenders: typeof english = {
  title: 'Spam',
  introduction: (messages) =>
    `Die Absender der neuesten Mail in Ihrem Spam-Ordner, von dem die letzten ${messages} Nachrichten gelesen werden. Jeder kann einen beliebigen Absender in eine Nachricht schreiben: Lassen Sie nur die durch, deren Mail Ihnen fehlt.`,
  effect:
    'Ihre Wahl wird eine Regel vor allen anderen, die die Mail dieses Absenders dann nicht mehr prüfen. Mail, die schon in einem Ordner liegt, bleibt dort.',
  caption: 'Absender der neuesten Mail im Spam-Ordner',
  none: 'Im Spam-Ordner liegt nichts.',
  sender: 'Absender',
  messages: 'Nachrichten',
  last: 'Neueste',
  choice: 'Ihre Wahl',
  choices: { never: 'nie Spam', always: 'immer Spam', none: 'wie der Server entscheidet' },
  never: 'Nie Spam',
  always: 'Immer Spam',
  clear: 'Den Server entscheiden lassen',
  otherTitle: 'Anderer Absender',
  address: 'Adresse',
  addressHelp: 'Die ganze Adresse, etwa anna@example.com',
  chosenTitle: 'Gewählte Absender',
  chosenCaption: 'Absender, für die Sie gewählt haben',
  rules: 'Alle Regeln',
};
