import type { recovery as english } from '../en/recovery.ts';

/** Texts about the address with which the owner of a mailbox sets a new password, with the mail about it. */
export const recovery: typeof english = {
  title: 'Ersatzadresse',
  introduction:
    'Wenn Sie das Passwort dieses Postfachs vergessen haben, geht ein Link für ein neues an diese Adresse. Wer die Mail dort liest, kann dieses Postfach öffnen.',
  notOffered: 'Wer Ihre Postfächer verwaltet, erlaubt das für dieses Postfach nicht.',
  tooMany: 'Es wurden zu viele Links versandt; versuchen Sie es in einer Stunde noch einmal.',
  state: 'Zustand',
  address: 'Adresse',
  otherAddress: 'Andere Adresse',
  addressHelp: 'Eine Adresse von Ihnen anderswo, etwa anna@example.com',
  confirmed: 'bestätigt',
  unconfirmed: 'nicht bestätigt',
  waits:
    'Sie wartet auf Ihre Bestätigung: Öffnen Sie innerhalb von 30 Minuten den Link in der Mail, oder setzen Sie die Adresse noch einmal, um einen neuen zu bekommen.',
  none: 'Es ist keine Ersatzadresse gesetzt.',
  set: 'Adresse setzen und den Link senden',
  remove: 'Adresse entfernen',
  removeText: 'Ein vergessenes Passwort kann dann nur neu setzen, wer Ihre Postfächer verwaltet.',
  removeByManager:
    'Links, die dorthin gingen, gelten nicht mehr. Der Inhaber kann eine andere Adresse setzen, wenn das Postfach es erlaubt.',
  forgot: 'Das Passwort eines Postfachs vergessen?',
  forgotTitle: 'Neues Passwort für ein Postfach',
  forgotText:
    'Hat das Postfach eine bestätigte Ersatzadresse, geht ein Link dorthin, mit dem Sie ein neues Passwort setzen. Hat es keine, wenden Sie sich an die Person, die Ihre Postfächer verwaltet.',
  forgotAddress: 'Adresse des Postfachs',
  forgotSubmit: 'Link senden',
  confirmTitle: 'Ersatzadresse bestätigen',
  confirmText: (address, mailbox) =>
    `Links für ein neues Passwort von ${mailbox} gehen von da an an ${address}.`,
  confirm: 'Bestätigen',
  resetTitle: 'Neues Passwort setzen',
  resetText: (mailbox) =>
    `Das neue Passwort ist für ${mailbox}. Alle Mailprogramme und Browser werden abgemeldet. App-Passwörter gelten weiter; sehen Sie sie durch, wenn Sie angemeldet sind.`,
  wrongLinkText: 'Links gelten einmal und 30 Minuten lang. Der neueste zählt.',
  again: 'Einen neuen Link anfordern',
  confirmMail: (mailbox, url) => ({
    subject: 'Bestätigen Sie Ihre Ersatzadresse',
    text: `Der Inhaber des Postfachs ${mailbox} möchte Links für ein neues Passwort an diese Adresse bekommen.\n\nSind Sie das? Dann bestätigen Sie es innerhalb von 30 Minuten:\n\n${url}\n\nSonst brauchen Sie nichts zu tun.\n`,
  }),
  resetMail: (mailbox, url) => ({
    subject: 'Neues Passwort für Ihr Postfach',
    text: `Jemand, hoffentlich Sie selbst, möchte ein neues Passwort für das Postfach ${mailbox}.\n\nSetzen Sie es innerhalb von 30 Minuten:\n\n${url}\n\nWenn Sie das nicht waren, brauchen Sie nichts zu tun: Das Passwort bleibt, wie es ist.\n`,
  }),
  confirmedMail: (mailbox) => ({
    subject: 'Eine Ersatzadresse wurde bestätigt',
    text: `Links für ein neues Passwort von ${mailbox} gehen von jetzt an an eine Adresse außerhalb, die in „Mein Postfach“ unter „Ersatzadresse“ steht.\n\nWenn Sie sie nicht gesetzt haben, ändern Sie Ihr Passwort und entfernen Sie dort die Adresse.\n`,
  }),
  changedMail: (mailbox) => ({
    subject: 'Das Passwort Ihres Postfachs wurde geändert',
    text: `Das Passwort von ${mailbox} wurde mit einem Link neu gesetzt, der an die Ersatzadresse ging. Alle Mailprogramme und Browser wurden abgemeldet.\n\nWenn Sie das nicht waren, wenden Sie sich sofort an die Person, die Ihre Postfächer verwaltet.\n`,
  }),
};
