import type { appPasswords as english } from '../en/app-passwords.ts';

/** Texts about the app passwords of a mailbox. */
export const appPasswords: typeof english = {
  title: 'App-Passwörter',
  introduction:
    'Ein App-Passwort ist für ein einzelnes Mailprogramm oder Gerät. Es lässt sich für sich allein widerrufen; Programme, die es benutzen, werden dann getrennt. Diese Seiten öffnet es nicht.',
  caption: 'App-Passwörter dieses Postfachs',
  none: 'Noch keine App-Passwörter.',
  name: 'Name',
  nameHelp: 'Name des Programms oder Geräts, etwa Thunderbird auf dem Laptop',
  hint: 'Beginnt mit',
  member: 'Für das Mitglied',
  protocols: 'Gültig für',
  lastUsed: 'Zuletzt benutzt',
  expires: 'Gültig bis',
  expiresOn: 'Letzter Tag, an dem es gilt',
  expiresHelp: 'In UTC; ohne Angabe gilt es, bis es widerrufen wird',
  create: 'App-Passwort anlegen',
  revoke: 'Widerrufen',
  shownTitle: 'Das neue App-Passwort',
  shownText:
    'Geben Sie es im Mailprogramm anstelle des Passworts ein. Es wird nicht noch einmal angezeigt: Gespeichert ist nur sein Hash.',
  back: 'Zurück',
};
