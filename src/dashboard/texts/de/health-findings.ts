import type { Translation } from './translation.ts';

/** Translates the findings of the checks of the installation, and their advice. */
export const healthFindings: readonly Translation[] = [
  ['{1} more like these', '{1} weitere wie diese'],
  ['see to these first', 'kümmern Sie sich zuerst um diese'],
  ['no result within {1} seconds', 'kein Ergebnis binnen {1} Sekunden'],
  ['the check has an error itself', 'die Prüfung hat selbst einen Fehler'],
  ['see to DNS first', 'kümmern Sie sich zuerst um das DNS'],
  [
    'report the bug with the error in the log',
    'melden Sie den Fehler mit dem, was im Protokoll des Programms steht',
  ],
  ['try again later', 'versuchen Sie es später noch einmal'],
  ['all is well again', 'alles ist wieder in Ordnung'],
  [
    'publish A and AAAA records for it, as "postrider domain records" prints them',
    'veröffentlichen Sie A- und AAAA-Einträge dafür, wie „postrider domain records“ sie ausgibt',
  ],
  [
    'check that the resolver runs and may be reached (dns.servers, /etc/resolv.conf)',
    'prüfen Sie, ob der Resolver läuft und erreichbar ist (dns.servers, /etc/resolv.conf)',
  ],
  [
    'DNS does not answer ({1}), so hardly any mail can be delivered',
    'das DNS antwortet nicht ({1}), sodass sich kaum Mail zustellen lässt',
  ],
  ['it has no address in DNS', 'im DNS hat er keine Adresse'],
  ['it leads to {1}', 'er führt zu {1}'],
  ['DNS has {1}, but not {2} of domains.addresses', 'das DNS hat {1}, aber nicht {2} aus domains.addresses'],
  ['none has failed', 'keine ist fehlgeschlagen'],
  [
    'look at "postrider task list", and report the bug',
    'sehen Sie „postrider task list“ an, und melden Sie den Fehler',
  ],
  ['{1} tasks have failed', '{1} Aufgaben sind fehlgeschlagen'],
  [
    'run "postrider backup create", set backup.time to have one made each day, and copy it to another machine',
    'rufen Sie „postrider backup create“ auf, setzen Sie backup.time für eine tägliche Sicherung, und kopieren Sie sie auf einen anderen Rechner',
  ],
  ['there is no backup', 'es gibt keine Sicherung'],
  [
    'the newest backup is of {1}, and {2} mailboxes in it are damaged',
    'die neueste Sicherung ist von {1}, und {2} Postfächer darin sind beschädigt',
  ],
  ['the newest backup is of {1}', 'die neueste Sicherung ist von {1}'],
  [
    'run "postrider mailbox check" and "mailbox repair" for each of them',
    'rufen Sie „postrider mailbox check“ und „mailbox repair“ für jedes davon auf',
  ],
  [
    'see the log, and run "postrider backup create" once the program works (backup.command)',
    'sehen Sie in das Protokoll, und rufen Sie „postrider backup create“ auf, wenn das Programm geht (backup.command)',
  ],
  ['{1} was not copied off this host: {2}', '{1} wurde nicht von diesem Host wegkopiert: {2}'],
  ['{1} was copied off this host', '{1} wurde von diesem Host wegkopiert'],
  ['{1} is being copied off this host since {2}', '{1} wird seit {2} von diesem Host wegkopiert'],
  ['the copy of {1} has not ended', 'die Kopie von {1} ist noch nicht beendet'],
  [
    'not known: {1} is a public resolver, which the lists do not answer',
    'nicht bekannt: {1} ist ein öffentlicher Resolver, dem die Listen nicht antworten',
  ],
  [
    'not known: the list does not answer the resolver of this machine',
    'nicht bekannt: die Liste antwortet dem Resolver dieses Rechners nicht',
  ],
  [
    'run a resolver of your own on this machine, such as unbound',
    'betreiben Sie einen eigenen Resolver auf diesem Rechner, etwa unbound',
  ],
  ['it has none of {1}', 'sie hat {1} nicht'],
  ['it has {1}', 'sie hat {1}'],
  [
    'end what made the list take it, then ask the list to remove it ({1})',
    'beenden Sie den Grund des Eintrags, und bitten Sie dann die Liste um Streichung ({1})',
  ],
  [
    'renew it, and look at "postrider certificates list"',
    'erneuern Sie es, und sehen Sie „postrider certificates list“ an',
  ],
  [
    'the certificate is self-signed, so mail programs refuse it',
    'das Zertifikat ist selbst signiert, und Mailprogramme lehnen es ab',
  ],
  ['set acme.directory or tls.certificates', 'setzen Sie acme.directory oder tls.certificates'],
  ['the certificate expired on {1}', 'das Zertifikat ist am {1} abgelaufen'],
  ['the certificate expires on {1}', 'das Zertifikat läuft am {1} ab'],
  ['the certificate is valid until {1}', 'das Zertifikat gilt bis {1}'],
  ['the certificate is being ordered', 'das Zertifikat wird gerade bestellt'],
  [
    'mend what the error names, then "postrider certificates renew {1}"',
    'beheben Sie, was der Fehler nennt, dann „postrider certificates renew {1}“',
  ],
  [
    'publish what "postrider domain records" prints; the daemon looks again by itself',
    'veröffentlichen Sie, was „postrider domain records“ ausgibt; das Programm sieht selbst wieder nach',
  ],
  [
    'it shows {1}, {2} seconds before a time that it showed earlier',
    'sie zeigt {1}, {2} Sekunden vor einer Zeit, die sie früher gezeigt hat',
  ],
  ['it shows {1}', 'sie zeigt {1}'],
  [
    'let NTP set the clock ("timedatectl set-ntp true")',
    'lassen Sie die Uhr von NTP stellen („timedatectl set-ntp true“)',
  ],
  ['no tenant has too many at any provider', 'kein Mandant hat bei einem Anbieter zu viele'],
  ['{1} of {2} readers complained ({3} %)', '{1} von {2} Lesern haben sich beschwert ({3} %)'],
  [
    'mail only those who have asked for it; look at the last broadcasts of this tenant',
    'schreiben Sie nur denen, die es wollten; sehen Sie die letzten Rundmails dieses Mandanten an',
  ],
  ['{1} MB of {2} MB are free', '{1} MB von {2} MB sind frei'],
  [
    'free space or enlarge the disk; retention decides how long mail is kept',
    'schaffen Sie Platz, oder vergrößern Sie die Festplatte; retention bestimmt, wie lange Mail aufbewahrt wird',
  ],
  ['{1} MB can be used', '{1} MB sind nutzbar'],
  ['give the machine 1 GB or more', 'geben Sie dem Rechner 1 GB oder mehr'],
  ['the record is missing', 'der Eintrag fehlt'],
  ['DNS has {1} instead', 'im DNS steht stattdessen {1}'],
  [
    'publish it as "postrider domain records --check" shows it',
    'veröffentlichen Sie ihn, wie „postrider domain records --check“ ihn zeigt',
  ],
  ['nothing is known of {1} records ({2})', 'über {1} Einträge ist nichts bekannt ({2})'],
  ['its zone has all {1} records', 'seine Zone hat alle {1} Einträge'],
  [
    'the owner corrects the records that "postrider domain show" lists',
    'der Inhaber berichtigt die Einträge, die „postrider domain show“ nennt',
  ],
  [
    'the owner removes pct from the DMARC record: RFC 9989 has none, and t=y says that a policy is being tested',
    'der Inhaber nimmt pct aus dem DMARC-Eintrag: RFC 9989 kennt es nicht, und t=y sagt, dass eine Regel erprobt wird',
  ],
  ['the records of all verified domains are right', 'die Einträge aller bestätigten Domains stimmen'],
  [
    'its DMARC record has pct, which receivers ignore',
    'ihr DMARC-Eintrag hat pct, was Empfänger nicht beachten',
  ],
  [
    'run "postrider restore release" once the installation that it is a copy of never starts again',
    'rufen Sie „postrider restore release“ auf, sobald die Installation, deren Kopie sie ist, nie wieder startet',
  ],
  [
    'nothing is dialled, because this installation was restored',
    'es wird nichts angewählt, weil diese Installation wiederhergestellt wurde',
  ],
  [
    'it is not needed: mail goes through the relay of the route "{1}"',
    'er wird nicht gebraucht: Mail geht über das Relay der Route „{1}“',
  ],
  ['{1} answers', '{1} antwortet'],
  ['nothing is known: DNS names no mail servers', 'nichts ist bekannt: das DNS nennt keine Mailserver'],
  ['no mail server can be reached ({1})', 'kein Mailserver ist erreichbar ({1})'],
  [
    'ask your provider to open outgoing port 25, or send through a relay: postrider route set --help',
    'bitten Sie Ihren Anbieter, den ausgehenden Port 25 zu öffnen, oder senden Sie über ein Relay: postrider route set --help',
  ],
  [
    'readers cannot unsubscribe with one click, because links.url is not https',
    'Leser können sich nicht mit einem Klick abmelden, weil links.url nicht mit https beginnt',
  ],
  [
    'make the pages reachable as docs/unsubscribing.md says',
    'machen Sie die Seiten erreichbar, wie docs/unsubscribing.md es beschreibt',
  ],
  ['the pages have a valid certificate', 'die Seiten haben ein gültiges Zertifikat'],
  ['browsers refuse its certificate ({1})', 'Browser lehnen das Zertifikat ab ({1})'],
  ['the pages cannot be reached ({1})', 'die Seiten sind nicht erreichbar ({1})'],
  ['no mail has been due for long', 'keine Mail ist seit langem fällig'],
  ['mail has been due since {1} and is not tried', 'seit {1} ist Mail fällig und wird nicht versucht'],
  [
    'look at "postrider queue stats" and the log: a hold, too few connections, or a daemon that does not run',
    'sehen Sie „postrider queue stats“ und das Protokoll an: eine Sperre, zu wenige Verbindungen oder ein Programm, das nicht läuft',
  ],
  [
    'set the reverse DNS (PTR) of {1} to {2} where you rent the address',
    'setzen Sie das Reverse-DNS (PTR) von {1} auf {2}, wo Sie die Adresse mieten',
  ],
  [
    'the large receivers take mail, and no rule keeps it',
    'die großen Anbieter nehmen E-Mails an, und keine Regel hält sie auf',
  ],
  [
    'it has accepted none of {1} attempts within the last hour',
    'in der letzten Stunde wurde keiner von {1} Versuchen angenommen',
  ],
  [
    'look at "postrider queue site {1}", and at what it says about senders',
    'sehen Sie „postrider queue site {1}“ an, und was dort über Absender gesagt wird',
  ],
  [
    'no mail leaves from it since {1}, because an operator has suspended it: {2}',
    'seit {1} geht keine E-Mail von ihr ab, weil ein Betreiber sie ausgesetzt hat: {2}',
  ],
  [
    'no mail leaves from it since {1}, because an operator has suspended it',
    'seit {1} geht keine E-Mail von ihr ab, weil ein Betreiber sie ausgesetzt hat',
  ],
  [
    'resume it by "postrider source resume {1}" once its mail may leave again',
    'setzen Sie sie mit „postrider source resume {1}“ fort, sobald wieder E-Mails von ihr abgehen dürfen',
  ],
  ['its mail waits until {1}', 'seine E-Mails warten bis {1}'],
  ['its mail is slowed down until {1}', 'seine E-Mails sind bis {1} gedrosselt'],
  [
    'look at "postrider queue sites", which shows the reply, and lift it by "postrider queue site HOST --lift {1}" once its cause is gone',
    'sehen Sie „postrider queue sites“ an, wo die Antwort steht, und heben Sie sie mit „postrider queue site HOST --lift {1}“ auf, sobald ihr Anlass behoben ist',
  ],
  ['DANE is turned off (outbound.dane)', 'DANE ist ausgeschaltet (outbound.dane)'],
  [
    'DANE is not used: {1} is neither on this machine nor trusted (dns.trusted)',
    'DANE wird nicht verwendet: {1} ist weder auf dieser Maschine noch vertrauenswürdig (dns.trusted)',
  ],
  ['they validate DNSSEC, so DANE is obeyed', 'sie prüfen DNSSEC, und DANE wird befolgt'],
  [
    'they do not validate DNSSEC: {1} is signed, and no proof of it has come. DANE is not used',
    'sie prüfen DNSSEC nicht: {1} ist signiert, und kein Nachweis dafür kam an. DANE wird nicht verwendet',
  ],
  [
    'let the resolver validate, for example Unbound with its root key, or set outbound.dane to false',
    'lassen Sie den Resolver prüfen, etwa Unbound mit seinem Wurzelschlüssel, oder setzen Sie outbound.dane auf false',
  ],
  [
    'it is not known whether they validate DNSSEC ({1}), and mail to signed domains waits',
    'es ist nicht bekannt, ob sie DNSSEC prüfen ({1}), und E-Mails an signierte Domains warten',
  ],
  [
    'see to DNS, or name another signed name in dns.signedName',
    'sehen Sie nach dem DNS, oder nennen Sie einen anderen signierten Namen in dns.signedName',
  ],
  ['no mail leaves from it: {1}', 'von ihr gehen keine E-Mails ab: {1}'],
  ['see to the proxy at {1} port {2}', 'sehen Sie nach dem Proxy an {1} Port {2}'],
  [
    'give {1} to this machine, or remove it from the source "{2}"',
    'geben Sie dieser Maschine {1}, oder nehmen Sie die Adresse aus der Quelle „{2}“',
  ],
  [
    'the address is not public, so its reverse DNS and SPF are not checked',
    'die Adresse ist nicht öffentlich, deshalb werden Reverse-DNS und SPF nicht geprüft',
  ],
  ['check those of the public address', 'prüfen Sie beides für die öffentliche Adresse'],
  [
    'its reverse DNS leads to {1} and back, and SPF allows it',
    'das Reverse-DNS führt zu {1} und zurück, und SPF erlaubt sie',
  ],
  [
    'it has no reverse DNS (PTR); no mail leaves from it',
    'sie hat kein Reverse-DNS (PTR), deshalb gehen von ihr keine E-Mails ab',
  ],
  ['it has no reverse DNS (PTR)', 'sie hat kein Reverse-DNS (PTR)'],
  [
    'its reverse DNS (PTR) names {1} instead of {2}; no mail leaves from it',
    'das Reverse-DNS (PTR) nennt {1} statt {2}, deshalb gehen von ihr keine E-Mails ab',
  ],
  ['its reverse DNS (PTR) names {1} instead of {2}', 'das Reverse-DNS (PTR) nennt {1} statt {2}'],
  [
    '{1}, which its reverse DNS (PTR) names, does not lead back to it; no mail leaves from it',
    '{1}, das ihr Reverse-DNS (PTR) nennt, führt nicht zu ihr zurück, deshalb gehen von ihr keine E-Mails ab',
  ],
  [
    '{1}, which its reverse DNS (PTR) names, does not lead back to it',
    '{1}, das ihr Reverse-DNS (PTR) nennt, führt nicht zu ihr zurück',
  ],
  [
    'the SPF record of {1} does not allow it ({2}); no mail leaves from it',
    'der SPF-Eintrag von {1} erlaubt sie nicht ({2}), deshalb gehen von ihr keine E-Mails ab',
  ],
  ['the SPF record of {1} does not allow it ({2})', 'der SPF-Eintrag von {1} erlaubt sie nicht ({2})'],
  [
    'set the reverse DNS of {1} to {2}, give {3} the address, and publish the SPF record that "postrider domain records" shows',
    'setzen Sie das Reverse-DNS von {1} auf {2}, geben Sie {3} die Adresse, und veröffentlichen Sie den SPF-Eintrag, den „postrider domain records“ zeigt',
  ],
  ['its reverse DNS is not known ({1})', 'das Reverse-DNS ist nicht bekannt ({1})'],
  ['it has no reverse DNS', 'sie hat kein Reverse-DNS'],
  ['it leads back to {1}', 'sie führt zurück zu {1}'],
  ['its reverse DNS names {1} instead of {2}', 'das Reverse-DNS nennt {1} statt {2}'],
  [
    'its reverse DNS names {1}, which does not lead to it',
    'das Reverse-DNS nennt {1}, was nicht zu ihr führt',
  ],
  ['nothing is known ({1})', 'nichts ist bekannt ({1})'],
  [
    'no TLSA records are published, and none are needed',
    'es sind keine TLSA-Einträge veröffentlicht, und es werden keine gebraucht',
  ],
  [
    'the TLSA records are of another kind than 3 1 1, which is not checked',
    'die TLSA-Einträge sind von einer anderen Art als 3 1 1, die nicht geprüft wird',
  ],
  [
    'the TLSA records name no key in use: senders that check DANE do not deliver',
    'die TLSA-Einträge nennen keinen benutzten Schlüssel: Absender, die DANE prüfen, stellen nicht zu',
  ],
  ['the TLSA records name a key in use', 'die TLSA-Einträge nennen einen benutzten Schlüssel'],
  [
    'publish the TLSA records that "postrider domain records" prints',
    'veröffentlichen Sie die TLSA-Einträge, die „postrider domain records“ ausgibt',
  ],
];
