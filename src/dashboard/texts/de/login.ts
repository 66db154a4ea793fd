import type { login as english } from '../en/login.ts';

/** Texts of the pages before logging in. */
export const login: typeof english = {
  title: 'Anmelden',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  submit: 'Anmelden',
  mailbox: 'Stattdessen bei einem Postfach anmelden',
  person: 'Stattdessen beim Dashboard anmelden',
  mailboxTitle: 'Beim Postfach anmelden',
  mailboxPassword: 'Das Passwort des Postfachs selbst; App-Passwörter sind für Mailprogramme.',
  lost: 'Passwort verloren? Ein Inhaber Ihres Mandanten oder der Betreiber erstellt einen Link, mit dem Sie ein neues setzen.',
  setUpFirst:
    'Noch betreibt niemand diese Installation: Öffnen Sie den Link, den Postrider beim ersten Start ausgegeben hat. „postrider person link“ gibt einen neuen aus.',
  plain:
    'Anmelden geht nur über HTTPS, weil ein Passwort sonst im Klartext durch das Netz ginge. Öffnen Sie diese Seite unter https:// oder auf dem Server selbst.',
  openId: (provider) => `Weiter mit ${provider}`,
  openIdUnknown: (email) =>
    `Niemand hier hat die Adresse ${email}. Bitten Sie um eine Einladung, und gehen Sie von deren Link aus weiter.`,
  openIdUnproven: (email) =>
    `Hier gibt es schon ein Konto mit der Adresse ${email}, und es wurde noch nie mit dem Anbieter verwendet. Melden Sie sich mit dessen Passwort oder einem Passkey an, und gehen Sie von der Seite Ihres Kontos aus zum Anbieter; danach lässt er Sie ein. Haben nicht Sie dieses Passwort gewählt, bitten Sie den Betreiber um einen Link.`,
  openIdCanceled:
    'Die Anmeldung beim Anbieter wurde abgebrochen. Nichts hat sich geändert; melden Sie sich an, wann Sie möchten.',
  openIdRefused:
    'Die Anmeldung beim Anbieter wurde nicht angenommen: Sie hat länger als zehn Minuten gedauert, wurde in einem anderen Browser begonnen, oder der Anbieter hat Ihre Adresse nicht bestätigt. Melden Sie sich noch einmal an.',
  openIdUnavailable:
    'Der Anbieter ist gerade nicht erreichbar. Melden Sie sich mit Ihrem Passwort an, oder versuchen Sie es später noch einmal.',
  codeTitle: 'Einmalcode',
  code: 'Code aus Ihrer Authenticator-App oder ein Wiederherstellungscode',
  codeSubmit: 'Weiter',
  authenticatorTitle: 'Schützen Sie Ihr Konto',
  authenticatorText:
    'Mit Einmalcodes einer Authenticator-App meldet sich niemand an, der nur Ihr Passwort kennt. Danach folgen Wiederherstellungscodes, falls Sie die App verlieren.',
  authenticatorSubmit: 'Einschalten und weiter',
  authenticatorLaterText: 'Sie können Einmalcodes auch später auf der Seite Ihres Kontos einschalten.',
  authenticatorLater: 'Ohne weiter',
  setUpTitle: 'Dashboard einrichten',
  setUpText: 'Sie werden Betreiber dieser Installation. Der Link gilt einmal.',
  invitationTitle: 'Einladung annehmen',
  invitationText: (tenant) => `Sie sind zu ${tenant} eingeladen. Der Link gilt einmal.`,
  operatorInvitation: 'Sie sind eingeladen, diese Installation zu betreiben. Der Link gilt einmal.',
  recoveryTitle: 'Neues Passwort setzen',
  name: 'Ihr Name',
  newPassword: 'Neues Passwort (mindestens 8 Zeichen)',
  linkSubmit: 'Weiter',
  knownText:
    'Haben Sie hier schon ein Konto mit dieser Adresse? Dann melden Sie sich an und nehmen Sie die Einladung an. Das Formular unten ist für alle, die noch keines haben.',
  known: 'Anmelden und die Einladung annehmen',
  acceptText: (email) => `Sie sind als ${email} angemeldet; die Einladung ist für Sie.`,
  otherPerson: (viewer, invited) =>
    `Sie sind als ${viewer} angemeldet, aber die Einladung ist für ${invited}. Melden Sie sich ab, und öffnen Sie den Link noch einmal.`,
  accept: 'Annehmen',
  wrongLink: 'Der Link gilt nicht mehr',
  wrongLinkText: 'Links gelten einmal und 30 Minuten lang. Bitten Sie um einen neuen.',
  newLink: 'Der Betreiber erstellt einen neuen Link mit: postrider person link',
};
