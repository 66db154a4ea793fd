import type { mailboxes as english } from '../en/mailboxes.ts';

/** Texts about mailboxes. */
export const mailboxes: typeof english = {
  title: 'Postfächer',
  none: 'Noch keine Postfächer. Jedes bewahrt die Mail einer Adresse für eine Person auf, die sie mit einem Mailprogramm liest.',
  address: 'Adresse',
  addressHelp: 'An einer bestätigten Domain für Postfächer oder an der Sandbox-Domain',
  domain: 'Domain',
  displayName: 'Name',
  kind: 'Art',
  kinds: { personal: 'persönlich', shared: 'geteilt' },
  kindHelp: 'Ein geteiltes Postfach hat kein Passwort: Seine Mitglieder benutzen eigene App-Passwörter.',
  members: 'Mitglieder',
  membersHelp: 'Für ein geteiltes Postfach: Adressen der Postfächer seiner Mitglieder, eine je Zeile',
  password: 'Passwort',
  passwordHelp: 'Ohne Angabe erzeugt der Server eines und zeigt es einmal.',
  quota: 'Größe höchstens, in MB',
  quotaHelp: 'Ohne Angabe die der Installation',
  status: 'Status',
  statuses: { active: 'aktiv', suspended: 'gesperrt', damaged: 'beschädigt' },
  aliases: 'Weitere Adressen',
  aliasesHelp: 'Eine je Zeile; *@domain steht für alle Adressen, für die sonst nichts empfängt',
  usage: 'Belegter Platz',
  used: (used, quota) => `${used} von ${quota}`,
  messages: 'Nachrichten',
  forwarding: 'Leitet weiter an',
  vacation: 'Automatische Antwort',
  rules: 'Regeln',
  lastLogin: 'Letzte Anmeldung',
  createdAt: 'Angelegt',
  create: 'Postfach anlegen',
  created: 'Das Postfach ist bereit',
  createdText:
    'Geben Sie das Passwort der Person, der das Postfach gehört. Es wird nicht noch einmal angezeigt: Gespeichert ist nur sein Hash. Sie kann es ändern, nachdem sie sich am Postfach angemeldet hat.',
  open: 'Zum Postfach',
  newPassword: 'Neues Passwort setzen',
  newPasswordText:
    'Mailprogramme und Browser, die das alte Passwort benutzen, werden getrennt. App-Passwörter gelten weiter.',
  suspend: 'Sperren',
  suspendText:
    'An einem gesperrten Postfach kann sich niemand anmelden. Es nimmt keine Mail an; Absender versuchen es einige Tage lang erneut.',
  resume: 'Entsperren',
  imports: 'Importe',
  remove: 'Postfach löschen',
  removeText: (address, messages) =>
    `${address} wird endgültig gelöscht, mit ${messages} Nachrichten, App-Passwörtern und Importen. Die Adressen sind sofort frei.`,
};
