import type { Said } from '../en/said.ts';

/** Messages that a page shows after an action has led to it. */
export const said: Record<Said, string> = {
  saved: 'Gespeichert.',
  created: 'Angelegt.',
  deleted: 'Gelöscht.',
  ended: 'Die Sitzung ist beendet.',
  loggedOut: 'Sie sind abgemeldet.',
  passwordChanged: 'Das Passwort ist geändert, und alle anderen Sitzungen sind beendet.',
  totpOn: 'Einmalcodes sind eingeschaltet.',
  totpOff: 'Einmalcodes sind ausgeschaltet.',
  invited: 'Die Einladung ist bereit.',
  withdrawn: 'Die Einladung ist zurückgezogen.',
  importBegun: 'Der Import hat begonnen.',
  replayed: 'Die Aufrufe werden wiederholt.',
  revoked: 'Das App-Passwort ist widerrufen.',
  removed: 'Die Person ist kein Mitglied mehr.',
  canceled: 'Die wartenden Empfänger sind abgebrochen.',
  sent: 'Angenommen. Laden Sie die Seite neu, um zu sehen, was daraus wird.',
  resent: 'Erneut gesendet: Das ist die neue E-Mail.',
  queueChanged: 'Die Aktion ist gespeichert und geht jetzt durch die E-Mails.',
};
