import type { Translation } from './translation.ts';

/** Translates the findings of the check of an email and of the preflight of a broadcast. */
export const findings: readonly Translation[] = [
  [
    'The HTML has more than 102 KB: Gmail shows its beginning and hides the rest behind a link',
    'Das HTML hat mehr als 102 KB: Gmail zeigt seinen Anfang und verbirgt den Rest hinter einem Link.',
  ],
  [
    'The HTML could not be read in time; mail programs may have the same trouble',
    'Das HTML ließ sich nicht rechtzeitig lesen; Mailprogrammen kann es ebenso gehen.',
  ],
  [
    'The message has more than 10 MB, which many servers refuse; link to large files instead',
    'Die Nachricht hat mehr als 10 MB, was viele Server ablehnen; verlinken Sie große Dateien stattdessen.',
  ],
  [
    'There is no text part: some readers see nothing, and filters count it against the email',
    'Es gibt keinen Textteil: Manche Leser sehen nichts, und Filter rechnen es der E-Mail an.',
  ],
  [
    'The HTML has images and hardly any text: readers who block images see nothing',
    'Das HTML hat Bilder und kaum Text: Wer Bilder sperrt, sieht nichts.',
  ],
  [
    'The `html` element has no `lang`, from which screen readers choose their pronunciation',
    'Dem Element `html` fehlt `lang`, wonach Vorleseprogramme die Aussprache wählen.',
  ],
  [
    'Images have no `alt` text; use `alt=""` for those that only decorate',
    'Bildern fehlt der Text `alt`; für solche, die nur schmücken, nehmen Sie `alt=""`.',
  ],
  ['Images have no address', 'Bilder haben keine Adresse.'],
  [
    'Images have relative addresses, which lead nowhere in a mail program',
    'Bilder haben relative Adressen, die in einem Mailprogramm nirgendwohin führen.',
  ],
  ['Images have http addresses; use https', 'Bilder haben Adressen mit http; nehmen Sie https.'],
  ['Elements are not supported everywhere', 'Elemente werden nicht überall unterstützt.'],
  ['CSS is not supported everywhere', 'CSS wird nicht überall unterstützt.'],
  ['Images of this kind are not supported everywhere', 'Solche Bilder werden nicht überall unterstützt.'],
  ['Links have no address', 'Links haben keine Adresse.'],
  [
    'Links are relative, and lead nowhere in a mail program',
    'Links sind relativ und führen in einem Mailprogramm nirgendwohin.',
  ],
  ['Links are no valid addresses', 'Links sind keine gültigen Adressen.'],
  [
    'Links have a scheme that mail programs do not open',
    'Links haben ein Schema, das Mailprogramme nicht öffnen.',
  ],
  [
    'Links lead to a host that readers cannot reach',
    'Links führen zu einem Host, den Leser nicht erreichen können.',
  ],
  ['Links have http addresses; use https', 'Links haben Adressen mit http; nehmen Sie https.'],
  [
    'Links lead to an IP address instead of a host name, as those of phishing do',
    'Links führen zu einer IP-Adresse statt zu einem Hostnamen, wie beim Phishing.',
  ],
  ['Links contain a user name or a password', 'Links enthalten einen Benutzernamen oder ein Passwort.'],
  [
    'Links lead to a shortener, whose host shares the reputation of everybody who uses it',
    'Links führen zu einem Kürzungsdienst, dessen Ruf von allen abhängt, die ihn benutzen.',
  ],
  [
    'The text of a link names another host than the one that it leads to, as in phishing',
    'Der Text eines Links nennt einen anderen Host als den, zu dem er führt, wie beim Phishing.',
  ],
  [
    'Links have more than 2,048 characters, which some programs cut off',
    'Links haben mehr als 2.048 Zeichen, was manche Programme abschneiden.',
  ],
  [
    'Links have no text that a screen reader could read out',
    'Links haben keinen Text, den ein Vorleseprogramm vorlesen könnte.',
  ],
  [
    'Marketing mail has no link to unsubscribe in its body: add `{{{unsubscribe_url}}}`',
    'Werbung hat keinen Link zum Abmelden in ihrem Text: Fügen Sie `{{{unsubscribe_url}}}` ein.',
  ],
  ['Marketing mail has no `List-Unsubscribe`', 'Werbung hat kein `List-Unsubscribe`.'],
  [
    'Marketing mail has no `List-Unsubscribe-Post`, which one-click unsubscribing needs (RFC 8058)',
    'Werbung hat kein `List-Unsubscribe-Post`, das die Abmeldung mit einem Klick braucht (RFC 8058).',
  ],
  ['Placeholders were not filled in', 'Platzhalter wurden nicht ausgefüllt.'],
  [
    'Variables had neither a value nor a fallback, and are empty',
    'Variablen hatten weder einen Wert noch einen Ersatz und sind leer.',
  ],
  ['There is no subject', 'Es gibt keinen Betreff.'],
  [
    'The subject has more than 100 characters; lists of emails show about 60',
    'Der Betreff hat mehr als 100 Zeichen; Listen von E-Mails zeigen etwa 60.',
  ],
  [
    'The subject is in capital letters, as spam often is',
    'Der Betreff steht in Großbuchstaben, wie oft bei Spam.',
  ],
  [
    'The subject repeats exclamation marks, question marks or signs of money, as spam often does',
    'Der Betreff wiederholt Ausrufezeichen, Fragezeichen oder Währungszeichen, wie oft bei Spam.',
  ],
  [
    'The subject begins like a reply or a forwarded email, but the email is neither',
    'Der Betreff beginnt wie eine Antwort oder eine Weiterleitung, aber die E-Mail ist keines von beiden.',
  ],
  [
    'The sender is a no-reply address, which readers cannot answer',
    'Der Absender ist eine Adresse, auf die Leser nicht antworten können.',
  ],
  [
    'The name of the sender contains an address, as in phishing',
    'Der Name des Absenders enthält eine Adresse, wie beim Phishing.',
  ],
  ['There is no `Message-ID`', 'Es gibt keine `Message-ID`.'],
  [
    'The message has no DKIM signature; mail of the sandbox domain never has one',
    'Die Nachricht hat keine DKIM-Signatur; Mail der Sandbox-Domain hat nie eine.',
  ],
  [
    'The email claims to be urgent, as spam often does',
    'Die E-Mail gibt sich als dringend aus, wie oft Spam.',
  ],
  ['Scripts are removed by every mail program', 'Skripte werden von jedem Mailprogramm entfernt.'],
  ['Frames are removed by almost every mail program', 'Frames werden von fast jedem Mailprogramm entfernt.'],
  ['An embedded object is not supported by {1}', 'Ein eingebettetes Objekt wird nicht unterstützt von: {1}.'],
  [
    'A custom property (`--name`) is not supported by {1}',
    'Eine eigene CSS-Eigenschaft (`--name`) wird nicht unterstützt von: {1}.',
  ],
  [
    'An image in a `data:` address is not supported by {1}',
    'Ein Bild in einer `data:`-Adresse wird nicht unterstützt von: {1}.',
  ],
  ['An SVG image is not supported by {1}', 'Ein SVG-Bild wird nicht unterstützt von: {1}.'],
  ['A WebP image is not supported by {1}', 'Ein WebP-Bild wird nicht unterstützt von: {1}.'],
  ['`style` in the body is not supported by {1}', '`style` im Rumpf wird nicht unterstützt von: {1}.'],
  [
    '`link` to a style sheet is not supported by {1}',
    '`link` zu einer Stilvorlage wird nicht unterstützt von: {1}.',
  ],
  ['`{1}` is not supported by {2}', '`{1}` wird nicht unterstützt von: {2}.'],
  [
    'The HTML has {1} bytes. Gmail shows only the first 102 KB, and hides a link to unsubscribe that comes later',
    'Das HTML hat {1} Byte. Gmail zeigt nur die ersten 102 KB und verbirgt einen Link zum Abmelden, der danach kommt.',
  ],
  [
    'These tags are not known and are sent as they stand: {1}. There are {2}',
    'Diese Platzhalter sind nicht bekannt und werden so gesendet, wie sie dastehen: {1}. Es gibt {2}',
  ],
  [
    'None of the newest contacts has a value for {1}. Contacts have {2}',
    'Keiner der neuesten Kontakte hat einen Wert für {1}. Kontakte haben {2}',
  ],
  [
    'Without `topicId`, readers can only unsubscribe from all marketing mail, not from this kind alone',
    'Ohne Thema können sich Leser nur von aller Werbung abmelden, nicht von dieser Art allein.',
  ],
  [
    '{1} has sent transactional mail in the last 30 days. Complaints about the broadcast also harm that mail; use another address, or better another subdomain',
    '{1} hat in den letzten 30 Tagen auch andere Mail als Werbung gesendet. Beschwerden über die Rundmail schaden auch dieser; nehmen Sie eine andere Adresse, besser eine andere Subdomain.',
  ],
  [
    'Mail from {1} is not signed, so DMARC cannot pass; use a domain of your own',
    'Mail von {1} wird nicht signiert, und DMARC kann nicht bestanden werden; nehmen Sie eine eigene Domain.',
  ],
  [
    'The DKIM record of {1} was not found at the last check, so DMARC does not pass; see GET /v1/domains/{2}',
    'Der DKIM-Eintrag von {1} fehlte bei der letzten Prüfung, und DMARC wird nicht bestanden; sehen Sie auf der Seite der Domain nach.',
  ],
  [
    'The DMARC record of {1} was not found at the last check, and large receivers ask for one; see GET /v1/domains/{2}',
    'Der DMARC-Eintrag von {1} fehlte bei der letzten Prüfung, und große Empfänger verlangen ihn; sehen Sie auf der Seite der Domain nach.',
  ],
  [
    'Links lead to {1}, which works on this machine only; set `hostname`',
    'Links führen zu {1}, was nur auf diesem Rechner geht; setzen Sie `hostname`.',
  ],
  [
    'Links lead to {1}, which has no public address, so readers cannot unsubscribe',
    'Links führen zu {1}, das keine öffentliche Adresse hat; Leser können sich nicht abmelden.',
  ],
  [
    'Links lead to {1}, which does not answer ({2}), so readers cannot unsubscribe',
    'Links führen zu {1}, das nicht antwortet ({2}); Leser können sich nicht abmelden.',
  ],
];
