import type { Translation } from './translation.ts';

/** Translates the advice of the shipped reply table on replies of other mail servers. An operator may write other advice there, which stays as it is. */
export const replyAdvice: readonly Translation[] = [
  [
    'The mailbox does not exist. Remove the address from your lists.',
    'Das Postfach gibt es nicht. Nehmen Sie die Adresse aus Ihren Listen.',
  ],
  [
    'The domain has no mail server with a public address. Its owner must correct the MX and address records.',
    'Die Domain hat keinen Mailserver mit einer öffentlichen Adresse. Ihr Besitzer muss die MX- und Adresseinträge berichtigen.',
  ],
  [
    'The mailbox is closed. Remove the address from your lists.',
    'Das Postfach ist geschlossen. Nehmen Sie die Adresse aus Ihren Listen.',
  ],
  [
    'The mailbox probably does not exist. Check the address; after a second bounce on another day it is suppressed.',
    'Das Postfach gibt es wahrscheinlich nicht. Prüfen Sie die Adresse; nach einer zweiten Ablehnung an einem anderen Tag wird sie gesperrt.',
  ],
  [
    'The server refused the address without saying why. Check the address; after a second bounce on another day it is suppressed.',
    'Der Server hat die Adresse ohne Grund abgelehnt. Prüfen Sie die Adresse; nach einer zweiten Ablehnung an einem anderen Tag wird sie gesperrt.',
  ],
  [
    'The domain has a new owner, so that the address may now be that of another person. Remove it.',
    'Die Domain hat einen neuen Inhaber, und die Adresse gehört jetzt vielleicht jemand anderem. Nehmen Sie sie aus Ihren Listen.',
  ],
  [
    'The domain receives no mail. Check its spelling and remove the address.',
    'Die Domain empfängt keine Mail. Prüfen Sie, wie sie geschrieben ist, und nehmen Sie die Adresse aus Ihren Listen.',
  ],
  [
    'The mailbox is full. Send again when its owner has made space.',
    'Das Postfach ist voll. Senden Sie noch einmal, wenn sein Inhaber Platz geschaffen hat.',
  ],
  [
    'Make the message smaller or simpler and send it again.',
    'Machen Sie die Nachricht kleiner oder einfacher, und senden Sie sie noch einmal.',
  ],
  [
    'The server refuses such content. Change the message or its attachments.',
    'Der Server lehnt solchen Inhalt ab. Ändern Sie die Nachricht oder ihre Anhänge.',
  ],
  [
    'The server takes the message for spam. Check its content and links and whether the reader asked for it.',
    'Der Server hält die Nachricht für Spam. Prüfen Sie ihren Inhalt und ihre Links, und ob der Leser sie haben wollte.',
  ],
  [
    'A rule of the receiver refuses the message. Ask the recipient to reach you in another way.',
    'Eine Regel des Empfängers lehnt die Nachricht ab. Bitten Sie den Empfänger, sich auf anderem Weg zu melden.',
  ],
  [
    'The server refuses the sender. Check that its domain has MX and SPF records and that the receiver has not blocked it.',
    'Der Server lehnt den Absender ab. Prüfen Sie, ob dessen Domain MX- und SPF-Einträge hat und ob der Empfänger sie gesperrt hat.',
  ],
  [
    'The message did not pass SPF, DKIM or DMARC. Check the DNS records of the domain of the sender.',
    'Die Nachricht hat SPF, DKIM oder DMARC nicht bestanden. Prüfen Sie die DNS-Einträge der Domain des Absenders.',
  ],
  [
    'The server refuses the IP address or the host that sends. Check the blocklists and ask for removal.',
    'Der Server lehnt die IP-Adresse oder den Host ab, der sendet. Prüfen Sie die Sperrlisten, und bitten Sie um Streichung.',
  ],
  [
    'The server limits how much it takes. Send more slowly.',
    'Der Server begrenzt, wie viel er annimmt. Senden Sie langsamer.',
  ],
  [
    'The server asks for a second try. Nothing needs to be done.',
    'Der Server bittet um einen zweiten Versuch. Es ist nichts zu tun.',
  ],
  [
    'The server takes fewer recipients at once. The others are sent in another transaction.',
    'Der Server nimmt weniger Empfänger auf einmal an. Die übrigen folgen in einer weiteren Transaktion.',
  ],
  [
    'The connection could not be encrypted as one of the two sides requires.',
    'Die Verbindung ließ sich nicht so verschlüsseln, wie eine der beiden Seiten es verlangt.',
  ],
  [
    'The server does not take mail for this domain. Check the MX records of the domain of the recipient.',
    'Der Server nimmt für diese Domain keine Mail an. Prüfen Sie die MX-Einträge der Domain des Empfängers.',
  ],
  [
    'The message goes in circles. The MX records or forwardings of the recipient need correction.',
    'Die Nachricht läuft im Kreis. Die MX-Einträge oder Weiterleitungen des Empfängers müssen berichtigt werden.',
  ],
  [
    'The server could not be reached or broke off. The message is tried again while time is left.',
    'Der Server war nicht erreichbar oder hat abgebrochen. Es wird weiter versucht, solange Zeit bleibt.',
  ],
  [
    'DNS gave no answer about the domain. The message is tried again while time is left.',
    'Das DNS gab keine Antwort zu der Domain. Es wird weiter versucht, solange Zeit bleibt.',
  ],
  [
    'The server did not understand the session. Show the reply to the operator.',
    'Der Server hat die Sitzung nicht verstanden. Zeigen Sie die Antwort dem Betreiber.',
  ],
  [
    'The message could not be delivered in time. Send it again later.',
    'Die Nachricht ließ sich nicht rechtzeitig zustellen. Senden Sie sie später noch einmal.',
  ],
  [
    'The reader reported the message as spam. Do not write to this address again.',
    'Der Leser hat die Nachricht als Spam gemeldet. Schreiben Sie nicht mehr an diese Adresse.',
  ],
  [
    'The reply gives no reason that is understood. Read it.',
    'Die Antwort nennt keinen bekannten Grund. Lesen Sie sie.',
  ],
  [
    'This machine could not send. Nothing is wrong with the message or its recipient.',
    'Dieser Rechner konnte nicht senden. Mit der Nachricht und ihrem Empfänger ist alles in Ordnung.',
  ],
  [
    'The server takes no addresses or header fields in UTF-8. Use an ASCII address.',
    'Der Server nimmt keine Adressen und Kopffelder in UTF-8 an. Benutzen Sie eine Adresse aus ASCII-Zeichen.',
  ],
  ['Verify the domain of the sender again.', 'Bestätigen Sie die Domain des Absenders noch einmal.'],
  [
    'The relay that this installation sends through does not take its mail. Nothing is wrong with the recipient; the operator must check the route.',
    'Das Relay, über das diese Installation sendet, nimmt ihre Mail nicht an. Mit dem Empfänger ist alles in Ordnung; der Betreiber muss die Route prüfen.',
  ],
  [
    'The IP address needs a PTR record that leads back to it.',
    'Die IP-Adresse braucht einen PTR-Eintrag, der zu ihr zurückführt.',
  ],
  [
    'SPF did not pass. Check the SPF record of the domain of the return path.',
    'SPF wurde nicht bestanden. Prüfen Sie den SPF-Eintrag der Domain des Rückwegs (Return-Path).',
  ],
  [
    'DKIM did not pass. Check the DKIM records of the domain of the sender.',
    'DKIM wurde nicht bestanden. Prüfen Sie die DKIM-Einträge der Domain des Absenders.',
  ],
  [
    'The domain of the sender needs a DMARC record that the message passes.',
    'Die Domain des Absenders braucht einen DMARC-Eintrag, den die Nachricht besteht.',
  ],
  ['The domain in From must be that of SPF or DKIM.', 'Die Domain in From muss die von SPF oder DKIM sein.'],
  [
    'The address is not written correctly. Correct it.',
    'Die Adresse ist nicht richtig geschrieben. Berichtigen Sie sie.',
  ],
  [
    'The account is suspended. After a second bounce on another day the address is suppressed.',
    'Das Konto ist gesperrt. Nach einer zweiten Ablehnung an einem anderen Tag wird die Adresse gesperrt.',
  ],
];
