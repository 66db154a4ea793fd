import type { Translation } from './translation.ts';

/** Refusals of the API that people meet in forms. Names of fields in backticks become the labels of the form. */
export const refusals: readonly Translation[] = [
  // Every field may be refused for these.
  ['`{1}` is required', '`{1}` fehlt.'],
  ['`{1}` must not be empty', '`{1}` darf nicht leer sein.'],
  ['`{1}` must have at least {2} characters', '`{1}` muss mindestens {2} Zeichen haben.'],
  ['`{1}` must have at most {2} characters', '`{1}` darf höchstens {2} Zeichen haben.'],
  ['`{1}` must have at most {2} character', '`{1}` darf höchstens {2} Zeichen haben.'],
  ['`{1}` must be at most {2} characters', '`{1}` darf höchstens {2} Zeichen haben.'],
  ['`{1}` must have {2} to {3} characters', '`{1}` muss {2} bis {3} Zeichen haben.'],
  ['`{1}` must have at least {2} items', '`{1}` muss mindestens {2} Einträge haben.'],
  ['`{1}` must have at least {2} entries', '`{1}` muss mindestens {2} Einträge haben.'],
  ['`{1}` must have at most {2} items', '`{1}` darf höchstens {2} Einträge haben.'],
  ['`{1}` must have at most {2} item', '`{1}` darf höchstens {2} Eintrag haben.'],
  ['`{1}` must have at most {2} entries', '`{1}` darf höchstens {2} Einträge haben.'],
  ['`{1}` must be between {2} and {3}', '`{1}` muss zwischen {2} und {3} liegen.'],
  ['`{1}` must be at least {2}', '`{1}` muss mindestens {2} sein.'],
  ['`{1}` must be at most {2} bytes', '`{1}` darf höchstens {2} Byte groß sein.'],
  ['`{1}` must be at most one year ahead', '`{1}` darf höchstens ein Jahr entfernt sein.'],
  ['`{1}` must be at most {2} MiB in total', '`{1}` darf zusammen höchstens {2} MiB groß sein.'],
  ['`{1}` must be at most {2} KiB in total', '`{1}` darf zusammen höchstens {2} KiB groß sein.'],
  ['`{1}` must be at most {2} MiB', '`{1}` darf höchstens {2} MiB groß sein.'],
  ['`{1}` must be at most {2} KiB', '`{1}` darf höchstens {2} KiB groß sein.'],
  ['`{1}` must be at most {2}', '`{1}` darf höchstens {2} sein.'],
  ['`{1}` must be one of {2} for this field', '`{1}` muss für dieses Feld eines von {2} sein.'],
  ['`{1}` must be one of: {2}', '`{1}` muss eines von {2} sein.'],
  ['`{1}` must be one of {2}', '`{1}` muss eines von {2} sein.'],
  ['`{1}` must not name anything twice', '`{1}` darf nichts zweimal nennen.'],
  [
    '`{1}` must be plain text in one line, without control characters',
    '`{1}` muss einfacher Text in einer Zeile sein, ohne Steuerzeichen.',
  ],
  [
    '`{1}` must not contain line breaks or control characters',
    '`{1}` darf keine Zeilenumbrüche und Steuerzeichen haben.',
  ],
  [
    '`{1}` must be well-formed, without line breaks and control characters',
    '`{1}` darf keine Zeilenumbrüche, Steuerzeichen und unvollständigen Zeichen haben.',
  ],
  [
    '`{1}` must not contain control characters or halves of surrogate pairs',
    '`{1}` darf keine Steuerzeichen und unvollständigen Zeichen haben.',
  ],
  ['`{1}` must be well-formed Unicode', '`{1}` darf keine unvollständigen Zeichen haben.'],
  ['`{1}` must not contain NUL', '`{1}` darf kein NUL-Zeichen haben.'],
  [
    '`{1}` must be a whole number of days, 1 to {2}',
    '`{1}` muss eine ganze Zahl von Tagen zwischen 1 und {2} sein.',
  ],
  ['`{1}` must be a whole number', '`{1}` muss eine ganze Zahl sein.'],
  ['`{1}` must be a number', '`{1}` muss eine Zahl sein.'],
  ['`{1}` must be a finite number', '`{1}` muss eine endliche Zahl sein.'],
  [
    '`{1}` must be a number that keeps its digits; send larger ones as strings',
    '`{1}` ist eine Zahl mit zu vielen Stellen.',
  ],
  ['`{1}` must be true or false', '`{1}` muss wahr oder falsch (true, false) sein.'],
  ['`{1}` must be a list of 1 to {2} values', '`{1}` muss 1 bis {2} Werte haben.'],
  ['`{1}` cannot be changed', '`{1}` kann nicht geändert werden.'],
  ['`{1}` must be later than `{2}`', '`{1}` muss nach `{2}` liegen.'],
  [
    '`{1}` must be an ISO 8601 time with an offset, such as {2}',
    '`{1}` muss eine Zeit mit ihrem Abstand zu UTC sein, wie {2}.',
  ],
  ['`{1}` must be an id that starts with {2}_', '`{1}` muss eine ID sein, die mit {2}_ beginnt.'],
  ['`{1}` has a form that is not allowed: {2}', '`{1}` hat nicht die Form, die erlaubt ist: {2}'],
  ['`{1}` has a form that is not allowed', '`{1}` hat nicht die Form, die erlaubt ist.'],
  // These are about addresses, names and domains.
  ['`{1}` must be one address such as {2}', '`{1}` muss genau eine Adresse wie {2} sein.'],
  ['`{1}` must be an email address', '`{1}` muss eine E-Mail-Adresse sein.'],
  [
    '`{1}` must have its name in quotes, as in {2}',
    'Der Name in `{1}` muss in Anführungszeichen stehen, wie in {2}.',
  ],
  ['`{1}` must be a domain such as {2}', '`{1}` muss eine Domain wie {2} sein.'],
  ['`{1}` must be a host name or a domain', '`{1}` muss ein Hostname oder eine Domain sein.'],
  [
    '`{1}` must be an absolute URL that starts with https://',
    '`{1}` muss eine vollständige URL sein, die mit https:// beginnt.',
  ],
  ['`{1}`: {2} belongs to this installation', '`{1}`: {2} gehört zu dieser Installation.'],
  [
    '`{1}`: {2} belongs to the operator of this installation',
    '`{1}`: {2} gehört dem Betreiber dieser Installation.',
  ],
  ['`{1}`: {2} is reserved for bounces', '`{1}`: {2} ist für Unzustellbarkeitsmeldungen vorgesehen.'],
  ['`{1}` must not contain an asterisk', '`{1}` darf keinen Stern enthalten.'],
  ['`{1}` must be written as #rrggbb', '`{1}` muss die Form #rrggbb haben.'],
  ['`{1}` needs `{2}`', '`{1}` verlangt auch `{2}`.'],
  [
    '`{1}` must be a PNG, JPEG, GIF or still WebP image that can be read',
    '`{1}` muss ein lesbares Bild sein: PNG, JPEG, GIF oder WebP ohne Bewegung.',
  ],
  // These name something that is not there.
  ['`{1}` must name an existing template', '`{1}` muss eine Vorlage nennen, die es gibt.'],
  ['`{1}` must name an existing topic', '`{1}` muss ein Thema nennen, das es gibt.'],
  ['`{1}` is not the id of one of your audiences', '`{1}` ist nicht die ID eines Ihrer Verteiler.'],
  ['`{1}` is not the id of one of your topics', '`{1}` ist nicht die ID eines Ihrer Themen.'],
  ['`{1}` does not name one of your {2}s', '`{1}` nennt nichts, das Sie haben.'],
  ['`{1}` must be one of the recipients of the email', '`{1}` muss einer der Empfänger der E-Mail sein.'],
  // These are about what exists already, and about limits.
  ['The domain {1} exists already', 'Die Domain {1} gibt es schon.'],
  ['{1} is taken already', '{1} ist schon vergeben.'],
  ['An inbound route for {1} exists already', 'Eine Route für {1} gibt es schon.'],
  ['A tenant named "{1}" exists already', 'Einen Mandanten mit dem Namen „{1}“ gibt es schon.'],
  [
    'The audience has a contact with this address already{1}',
    'Der Verteiler hat schon einen Kontakt mit dieser Adresse.',
  ],
  ['The route "{1}" is for the same mail already', 'Die Route „{1}“ ist schon für dieselbe Mail.'],
  [
    'The route "{1}" is set in the configuration file; change it there',
    'Die Route „{1}“ steht in der Konfigurationsdatei; ändern Sie sie dort.',
  ],
  [
    'You have {1} {2}, which is the maximum; delete one before you add another',
    'Es gibt schon {1} davon, und mehr sind nicht möglich; löschen Sie zuerst eines.',
  ],
  [
    'You have {1} {2}, which is the maximum; revoke one before you add another',
    'Es gibt schon {1} davon, und mehr sind nicht möglich; widerrufen Sie zuerst eines.',
  ],
  [
    'You have {1} {2}, which is the maximum; {3}',
    'Es gibt schon {1} davon, und mehr sind zur Zeit nicht möglich.',
  ],
  [
    '`{1}`: your mailboxes have {2} aliases, and may have {3} together',
    '`{1}`: Ihre Postfächer haben {2} Aliasse und dürfen zusammen {3} haben.',
  ],
  [
    'Your plan allows {1} emails per month; the next month begins at {2}',
    'Ihr Tarif erlaubt {1} E-Mails im Monat; der nächste Monat beginnt {2}.',
  ],
  [
    'Your plan allows {1} requests per second',
    'Ihr Tarif erlaubt {1} Anfragen in der Sekunde; versuchen Sie es gleich noch einmal.',
  ],
  ['The mailbox may write to {1} recipients a day', 'Das Postfach darf an {1} Empfänger am Tag schreiben.'],
  ['The disk is full', 'Die Festplatte ist voll.'],
  // This one is about rights.
  [
    'This API key ({1}) does not permit this request',
    'Sie haben nicht das Recht dazu, oder der Mandant ist gesperrt.',
  ],
  // These are about emails.
  [
    'The domain {1} is not verified; publish its DNS records, then POST /v1/domains/{2}/verify',
    'Die Domain {1} ist noch nicht bestätigt; veröffentlichen Sie ihre DNS-Einträge, und prüfen Sie sie dann auf der Seite der Domain.',
  ],
  [
    'The domain {1} is not one of yours; add it with POST /v1/domains, then publish its DNS records',
    'Die Domain {1} ist keine von Ihren; fügen Sie sie hinzu, und veröffentlichen Sie dann ihre DNS-Einträge.',
  ],
  ['The domain {1} is not verified{2}', 'Die Domain {1} ist noch nicht bestätigt.'],
  [
    'The email can no longer be canceled: no recipient waits',
    'Die E-Mail lässt sich nicht mehr abbrechen: Kein Empfänger wartet mehr.',
  ],
  ['The content of the email is no longer kept', 'Der Inhalt der E-Mail wird nicht mehr aufbewahrt.'],
  ['The content of the message is no longer kept', 'Der Inhalt der Nachricht wird nicht mehr aufbewahrt.'],
  ['`{1}` is required when `{2}` and `{3}` are absent', '`{1}` fehlt, und auch `{2}` und `{3}` fehlen.'],
  ['`{1}` is required when `{2}` is absent', '`{1}` fehlt, und auch `{2}` fehlt.'],
  ['`{1}` cannot be combined with `{2}`', '`{1}` und `{2}` gehen nicht zusammen.'],
  [
    'The key of a tag must be 1 to 256 characters, none of them a control character',
    'Der Name eines Schlagworts muss 1 bis 256 Zeichen haben, keines davon ein Steuerzeichen.',
  ],
  ['`{1}` must be a key and a value such as {2}', '`{1}` muss ein Name mit einem Wert wie {2} sein.'],
  ['The header `{1}` is given twice', 'Das Kopffeld {1} steht zweimal da.'],
  [
    'The header `{1}` is reserved: this service or the receiver writes it',
    'Das Kopffeld {1} ist vorgesehen: Es wird von hier oder vom Empfänger geschrieben.',
  ],
  [
    '`{1}` must be `No`, the only value that RFC 8689 gives it',
    '{1} muss „No“ sein, der einzige Wert, den RFC 8689 dafür kennt.',
  ],
  ['A text may contain at most {1} placeholders', 'Ein Text darf höchstens {1} Platzhalter haben.'],
  [
    '`{1}` has tags that are not known: {2}. There are {3}, with each {{#if}} closed and at most 8 of them nested',
    '`{1}` hat Platzhalter, die nicht bekannt sind: {2}. Es gibt {3}; jedes {{#if}} muss geschlossen sein, und höchstens 8 stehen ineinander.',
  ],
  // These are about broadcasts and contacts.
  [
    'The broadcast is {1}; only a draft or a scheduled one can be sent',
    'Die Rundmail wurde schon begonnen oder ist zu Ende; nur ein Entwurf oder eine geplante lässt sich versenden.',
  ],
  [
    'The broadcast is {1}; only one that was never started can be deleted',
    'Die Rundmail wurde schon begonnen; nur eine, die nie begonnen wurde, lässt sich löschen.',
  ],
  [
    'The broadcast is {1}; it cannot be {2} any more or yet',
    'Das geht im jetzigen Zustand der Rundmail noch nicht oder nicht mehr.',
  ],
  ['The broadcast was started already', 'Die Rundmail wurde schon begonnen.'],
  [
    'The broadcast was never started, so it cannot be resumed',
    'Die Rundmail wurde nie begonnen und lässt sich darum nicht fortsetzen.',
  ],
  ['The broadcast was moved to a later time', 'Die Rundmail wurde auf später verschoben.'],
  [
    'A broadcast that is {1} has been started or ended',
    'Die Rundmail wurde schon begonnen oder ist zu Ende.',
  ],
  [
    'A broadcast that is {1} cannot be changed{2}',
    'Im jetzigen Zustand lässt sich die Rundmail nicht ändern.',
  ],
  ['A broadcast that is {1} cannot be tested', 'Im jetzigen Zustand lässt sich die Rundmail nicht testen.'],
  [
    'A broadcast that is {1} has no pace to change',
    'Im jetzigen Zustand hat die Rundmail kein Tempo, das sich ändern ließe.',
  ],
  ['The audience was deleted', 'Der Verteiler wurde gelöscht.'],
  [
    'Audience has {1} scheduled or not completely sent{2}',
    'Der Verteiler hat Rundmails, die geplant oder noch nicht ganz versandt sind.',
  ],
  [
    'The key of a property must be 1 to 64 letters, digits and underscores',
    'Der Name einer Eigenschaft muss aus 1 bis 64 Buchstaben ohne Umlaute, Ziffern und Unterstrichen bestehen.',
  ],
  ['`{1}` must be true, false, 1, 0, yes or no', '`{1}` muss true, false, 1, 0, yes oder no sein.'],
  [
    'The entry has expired, so mail is sent to the address again',
    'Der Eintrag ist abgelaufen; die Adresse erhält wieder Mail.',
  ],
  // These are about approvals, webhooks and mailboxes.
  [
    'Nothing of this waits for approval, or not any more',
    'Hier wartet nichts auf eine Freigabe, oder nicht mehr.',
  ],
  [
    'It has changed since, and asks for approval again; read it once more and send its new `hash`',
    'Es wurde seither geändert und bittet wieder um Freigabe; sehen Sie es sich noch einmal an.',
  ],
  [
    'The delivery is being posted; wait for its end',
    'Die Zustellung läuft gerade; warten Sie, bis sie beendet ist.',
  ],
  [
    'The endpoint is disabled; enable it first',
    'Der Endpunkt ist abgeschaltet; schalten Sie ihn zuerst ein.',
  ],
  ['The mailbox is suspended', 'Das Postfach ist gesperrt.'],
  ['`{1}` is for a shared mailbox', '`{1}` gibt es nur bei einem geteilten Postfach.'],
  [
    '`{1}`: a shared mailbox has no password; its members have app passwords',
    '`{1}`: Ein geteiltes Postfach hat kein Passwort; seine Mitglieder haben App-Passwörter.',
  ],
  [
    'The domain {1} has the `productType` `{2}`; change it to `mailbox` or `both` with PATCH /v1/domains/{3}',
    'Die Domain {1} ist nicht für Postfächer gedacht; ändern Sie das auf der Seite der Domain.',
  ],
  // These are about files of imports, and jobs that have failed.
  ['The file is empty', 'Die Datei ist leer.'],
  [
    'Line {1}: text follows a closing quote; quotes within a quoted cell are doubled',
    'Zeile {1}: Nach einem schließenden Anführungszeichen folgt Text; innerhalb einer Zelle werden Anführungszeichen verdoppelt.',
  ],
  [
    'Line {1}: a quote stands within a cell that does not begin with one',
    'Zeile {1}: In einer Zelle, die nicht damit beginnt, steht ein Anführungszeichen.',
  ],
  [
    'Line {1}: the file ends in a quoted cell',
    'Zeile {1}: Die Datei endet in einer Zelle mit Anführungszeichen.',
  ],
  ['Line {1} cannot be read as CSV', 'Zeile {1} lässt sich nicht als CSV lesen.'],
  [
    'Line {1}: a record is longer than {2} KiB; perhaps a quote is not closed',
    'Zeile {1}: Ein Datensatz ist länger als {2} KiB; vielleicht fehlt ein schließendes Anführungszeichen.',
  ],
  [
    'Our storage could not be used for {1} hours ({2}); please start again',
    'Der Speicher ließ sich {1} Stunden lang nicht benutzen ({2}); bitte beginnen Sie noch einmal.',
  ],
  [
    'The server ended again and again during the import',
    'Der Server wurde während des Imports immer wieder beendet.',
  ],
  ['The import is {1}, and was started before', 'Der Import wurde schon begonnen.'],
  // These are about work of the operator.
  ['Another backup is being made', 'Es wird schon eine Sicherung gemacht.'],
  ['Another backup is being verified', 'Es wird schon eine Sicherung geprüft.'],
  ['Another test of a delivery is running', 'Es läuft schon ein Test einer Zustellung.'],
  ['The tenant {1} is being deleted', 'Der Mandant {1} wird gerade gelöscht.'],
  ['{1} is not a hold in force', 'Diese Sperre gilt nicht mehr.'],
];
