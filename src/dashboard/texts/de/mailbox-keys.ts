import type { mailboxKeys as english } from '../en/mailbox-keys.ts';

/** Texts about the API keys that reach the messages of a mailbox. */
export const mailboxKeys: typeof english = {
  title: 'API-Schlüssel',
  introduction:
    'Mit einem API-Schlüssel liest ein Programm, etwa ein Assistent, die Mail in diesem Postfach und tut damit, was Sie erlauben. Er lässt sich für sich allein widerrufen. Nur Sie und der Betreiber des Servers legen Schlüssel für Ihre Mail an, die Verwalter Ihrer Mail nicht.',
  caption: 'API-Schlüssel dieses Postfachs',
  none: 'Noch keine API-Schlüssel.',
  name: 'Name',
  nameHelp: 'Name des Programms, etwa Assistent',
  hint: 'Beginnt mit',
  access: 'Das Programm darf',
  accesses: {
    read: 'alle Mail lesen',
    drafts: 'Mail lesen, markieren, verschieben und Entwürfe schreiben, die Sie senden',
    send: 'Mail lesen, markieren, verschieben und in Ihrem Namen senden',
  },
  lastUsed: 'Zuletzt benutzt',
  expires: 'Gültig bis',
  expiresOn: 'Letzter Tag, an dem er gilt',
  expiresHelp: 'In UTC; ohne Angabe gilt er, bis er widerrufen wird',
  create: 'API-Schlüssel anlegen',
  revoke: 'Widerrufen',
  shownTitle: 'Der neue API-Schlüssel',
  shownText:
    'Geben Sie ihn im Programm ein. Er wird nicht noch einmal angezeigt: Gespeichert ist nur sein Hash.',
  mailboxId: 'ID des Postfachs',
  back: 'Zurück',
};
