import type { Translation } from './translation.ts';

/** Refusals of what the dashboard does itself. A test finds those without a translation. */
export const ownRefusals: readonly Translation[] = [
  ['The address or the password is wrong', 'Die Adresse oder das Passwort ist falsch.'],
  [
    'You have changed as much as one person may change here in a day; use the API, or go on tomorrow',
    'Sie haben so viel geändert, wie eine Person hier an einem Tag ändern kann; nutzen Sie die API, oder machen Sie morgen weiter.',
  ],
  [
    'Too many attempts have failed; try again in some minutes',
    'Zu viele Versuche sind fehlgeschlagen; versuchen Sie es in einigen Minuten noch einmal.',
  ],
  [
    'Many people are logging in; try again in a moment',
    'Gerade melden sich viele an; versuchen Sie es gleich noch einmal.',
  ],
  [
    'The mailbox is suspended; ask whoever manages your mailboxes',
    'Das Postfach ist gesperrt; fragen Sie, wer Ihre Postfächer verwaltet.',
  ],
  [
    'The mailbox is damaged, and waits for the operator to repair it',
    'Das Postfach ist beschädigt und wartet darauf, dass der Betreiber es repariert.',
  ],
  ['The code is wrong', 'Der Code ist falsch.'],
  ['The code is wrong, or was used before', 'Der Code ist falsch oder wurde schon benutzt.'],
  [
    'Too many codes were wrong; use a recovery code or a passkey, or try again tomorrow',
    'Zu viele Codes waren falsch; nehmen Sie einen Wiederherstellungscode oder einen Passkey, oder versuchen Sie es morgen noch einmal.',
  ],
  ['The login has ended; begin again', 'Die Anmeldung ist abgelaufen; beginnen Sie von vorn.'],
  [
    'Log out, log in again, and do this within 15 minutes',
    'Melden Sie sich ab und wieder an, und tun Sie dies dann binnen 15 Minuten.',
  ],
  [
    'The password or the second factor has changed meanwhile; log in again',
    'Das Passwort oder der zweite Faktor wurde inzwischen geändert; melden Sie sich noch einmal an.',
  ],
  [
    'The provider cannot be reached; log in otherwise, or try again later',
    'Der Anbieter ist nicht erreichbar; melden Sie sich anders an, oder versuchen Sie es später noch einmal.',
  ],
  [
    'The login at the provider was not accepted; begin again',
    'Die Anmeldung beim Anbieter wurde nicht angenommen; beginnen Sie von vorn.',
  ],
  [
    'This address belongs to another account of the provider',
    'Diese Adresse gehört zu einem anderen Konto beim Anbieter.',
  ],
  [
    'The passkey was not accepted; try again',
    'Der Passkey wurde nicht angenommen; versuchen Sie es noch einmal.',
  ],
  ['This passkey is in use already', 'Dieser Passkey wird schon benutzt.'],
  [
    'This is the only way to log in; set a password first',
    'Nur damit können Sie sich anmelden; setzen Sie zuerst ein Passwort.',
  ],
  ['The installation has an operator already', 'Die Installation hat schon einen Betreiber.'],
  [
    'The installation has an operator: name the `email` of the person',
    'Die Installation hat einen Betreiber: Geben Sie `email` der Person an.',
  ],
  [
    'Name the `tenant` that the person joins, or make it an `operator`',
    'Geben Sie `tenant` an, zu dem die Person kommt, oder machen Sie sie zum Betreiber (`operator`).',
  ],
  [
    'At most {1} people join a tenant within a day',
    'An einem Tag kommen höchstens {1} Personen zu einem Mandanten.',
  ],
  [
    'A person with this address exists already; log in, and open the link again',
    'Es gibt schon eine Person mit dieser Adresse; melden Sie sich an, und öffnen Sie den Link noch einmal.',
  ],
  [
    'An installation keeps its last operator; invite another one first',
    'Eine Installation behält ihren letzten Betreiber; laden Sie zuerst einen anderen ein.',
  ],
  [
    'A tenant keeps its last owner; make another member the owner first',
    'Ein Mandant behält seinen letzten Inhaber; machen Sie zuerst ein anderes Mitglied zum Inhaber.',
  ],
  [
    'The person does not belong to this tenant alone; the operator makes the link: postrider person link <address>',
    'Die Person gehört nicht zu diesem Mandanten allein; der Betreiber stellt den Link aus: postrider person link <Adresse>',
  ],
  [
    '`email` must be an email address, such as ann@example.com',
    '`email` muss eine Adresse wie ann@example.com sein.',
  ],
  [
    '`name` must have 1 to {1} characters, without control characters',
    '`name` muss 1 bis {1} Zeichen haben, ohne Steuerzeichen.',
  ],
  [
    '`timeZone` must be the name of a time zone, such as Europe/Berlin',
    '`timeZone` muss der Name einer Zeitzone wie Europe/Berlin sein.',
  ],
  ['`role` must be owner, admin or viewer', '`role` muss eine der angebotenen Rollen sein.'],
  ['`address` must be outside of this mailbox', '`address` darf keine Adresse dieses Postfachs sein.'],
  [
    'The rules were changed in another window; load the page again',
    'Die Regeln wurden in einem anderen Fenster geändert; laden Sie die Seite neu.',
  ],
  [
    'The email cannot be sent again from here',
    'Diese E-Mail kann von hier aus nicht noch einmal gesendet werden.',
  ],
  [
    '`variables`: each line must have the form name=value',
    '`variables`: Jede Zeile muss die Form name=wert haben.',
  ],
  ['`code` must have three digits', '`code` muss drei Ziffern haben.'],
  ['There is no domain {1}', 'Es gibt keine Domain {1}.'],
  ['Choose a file that is not empty', 'Wählen Sie eine Datei, die nicht leer ist.'],
  ['Enter at least one address', 'Geben Sie mindestens eine Adresse ein.'],
  [
    'At most {1} addresses can be added at once, and these are {2}; import a file instead',
    'Es können höchstens {1} Adressen auf einmal hinzugefügt werden, und dies sind {2}; importieren Sie stattdessen eine Datei.',
  ],
  ['`filter` is not JSON: {1}', '`filter` ist kein JSON: {1}'],
  [
    'Line {1} of the properties must have a name, a colon and a value',
    'Zeile {1} der Eigenschaften muss einen Namen, einen Doppelpunkt und einen Wert haben.',
  ],
  [
    'Line {1} of the properties names {2} a second time',
    'Zeile {1} der Eigenschaften nennt {2} ein zweites Mal.',
  ],
  ['Nothing has the id or the name {1}', 'Nichts hat die ID oder den Namen {1}.'],
  ['`{1}` must be a date and a time', '`{1}` muss ein Datum mit einer Uhrzeit sein.'],
  ['Too many pages were asked for', 'Das waren zu viele Seiten auf einmal; warten Sie einen Augenblick.'],
  [
    'Too many live views are open; close some of them',
    'Es sind zu viele Live-Ansichten offen; schließen Sie einige.',
  ],
  [
    'This form was sent before, and how it ended is not known: check whether it has had its effect, and send it again if it has not',
    'Dieses Formular wurde schon gesendet, und wie es ausging, ist nicht bekannt: Prüfen Sie, ob es gewirkt hat, und senden Sie es sonst noch einmal.',
  ],
  [
    'This form was sent before, and has had its effect; what it showed is not shown again',
    'Dieses Formular wurde schon gesendet und ausgeführt; was es gezeigt hat, wird nicht noch einmal gezeigt.',
  ],
  [
    'The form came from another site, and nothing was changed',
    'Das Formular kam von einer anderen Website; nichts wurde geändert.',
  ],
  [
    'The program has another version than the page; load the page again',
    'Das Programm hat eine andere Version als die Seite; laden Sie die Seite neu.',
  ],
  ['The source {1} is not suspended', 'Die Quelle {1} ist nicht ausgesetzt.'],
  [
    'Nothing leaves this restored installation until it is released',
    'Von dieser wiederhergestellten Installation geht nichts ab, bis sie freigegeben wird.',
  ],
  [
    'No daemon runs, so nothing is being delivered',
    'Der Dienst läuft nicht, deshalb wird nichts zugestellt.',
  ],
];
