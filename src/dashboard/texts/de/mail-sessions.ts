import type { mailSessions as english } from '../en/mail-sessions.ts';

/** Texts about the mail programs that are logged in to a mailbox. */
export const mailSessions: typeof english = {
  title: 'Mailprogramme',
  caption: 'Mailprogramme, die jetzt verbunden sind',
  introduction:
    'Ein Programm, das Sie trennen, verbindet sich von selbst wieder, solange es ein gültiges Passwort kennt. Um es auszusperren, ändern Sie das Passwort des Postfachs, oder widerrufen Sie das, mit dem es angemeldet ist:',
  none: 'Im Moment ist kein Mailprogramm verbunden.',
  service: 'Dienst',
  program: 'Programm',
  unknown: 'nicht genannt',
  address: 'Adresse',
  password: 'Angemeldet mit',
  ownPassword: 'Passwort des Postfachs',
  since: 'Seit',
  end: 'Trennen',
  endAll: 'Alle trennen',
  reload: 'Erneut nachsehen',
};
