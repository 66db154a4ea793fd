import type { Translation } from './translation.ts';

/** Translates the faults that the check of a domain finds in its DNS records. */
export const domainFindings: readonly Translation[] = [
  ['No SPF record (v=spf1) is published here', 'Hier ist kein SPF-Eintrag (v=spf1) veröffentlicht.'],
  [
    'There are several SPF records; they must be merged into one (RFC 7208 section 4.5)',
    'Es gibt mehrere SPF-Einträge; sie müssen zu einem vereint werden (RFC 7208, Abschnitt 4.5).',
  ],
  [
    'The SPF record must hold include:{1} before "all"',
    'Der SPF-Eintrag muss include:{1} vor „all“ enthalten.',
  ],
  ['The SPF record must hold include:{1}', 'Der SPF-Eintrag muss include:{1} enthalten.'],
  ['No DKIM record is published here', 'Hier ist kein DKIM-Eintrag veröffentlicht.'],
  [
    'There are several TXT records here; only the DKIM key may stay (RFC 6376 section 3.6.2.2)',
    'Hier gibt es mehrere TXT-Einträge; nur der DKIM-Schlüssel darf bleiben (RFC 6376, Abschnitt 3.6.2.2).',
  ],
  [
    'This must be a CNAME to {1}, or a TXT record with the key of this domain',
    'Hier muss ein CNAME auf {1} stehen, oder ein TXT-Eintrag mit dem Schlüssel dieser Domain.',
  ],
  [
    'The CNAME is right, but {1} holds something else than the one key: {2}',
    'Der CNAME stimmt, aber bei {1} steht etwas anderes als der eine Schlüssel; das muss der Betreiber beheben.',
  ],
  [
    'The CNAME is right, but {1} holds no key yet: {2}',
    'Der CNAME stimmt, aber bei {1} steht noch kein Schlüssel; das muss der Betreiber beheben.',
  ],
  ['No CNAME is published here', 'Hier ist kein CNAME veröffentlicht.'],
  ['This must be a CNAME to {1}', 'Hier muss ein CNAME auf {1} stehen.'],
  [
    'The CNAME is right, but the certificate for {1} is not ({2}): the operator of this installation must obtain one',
    'Der CNAME stimmt, aber das Zertifikat für {1} nicht ({2}): Der Betreiber dieser Installation muss eines beschaffen.',
  ],
  [
    'The CNAME is right, but the certificate of {1} could not be seen ({2}); the last known state is kept',
    'Der CNAME stimmt, aber das Zertifikat von {1} war nicht zu sehen ({2}); es gilt der letzte bekannte Zustand.',
  ],
  [
    'The CNAME is right, but {1} holds no SPF record yet: the operator of this installation must publish it, as "postrider domain records" prints it',
    'Der CNAME stimmt, aber bei {1} steht noch kein SPF-Eintrag: Der Betreiber dieser Installation muss ihn veröffentlichen, wie „postrider domain records“ ihn ausgibt.',
  ],
  ['No MX record is published here', 'Hier ist kein MX-Eintrag veröffentlicht.'],
  [
    'The null MX says that this domain takes no mail (RFC 7505); replace it to receive mail here',
    'Der Null-MX sagt, dass diese Domain keine Mail annimmt (RFC 7505); ersetzen Sie ihn, um hier Mail zu empfangen.',
  ],
  [
    'Mail for this domain goes to other hosts; it arrives here once an MX record names {1}',
    'Mail für diese Domain geht an andere Hosts; sie kommt hier an, sobald ein MX-Eintrag {1} nennt.',
  ],
  [
    'There are several DMARC records; only one may stay',
    'Es gibt mehrere DMARC-Einträge; nur einer darf bleiben.',
  ],
  [
    'The DMARC record must hold one p=none, p=quarantine or p=reject',
    'Der DMARC-Eintrag muss genau eines von p=none, p=quarantine und p=reject enthalten.',
  ],
  ['No DMARC record (v=DMARC1) is published here', 'Hier ist kein DMARC-Eintrag (v=DMARC1) veröffentlicht.'],
  [
    'No TLS-RPT record (v=TLSRPTv1) is published here',
    'Hier ist kein TLS-RPT-Eintrag (v=TLSRPTv1) veröffentlicht.',
  ],
  [
    'There are several TLS-RPT records; only one may stay',
    'Es gibt mehrere TLS-RPT-Einträge; nur einer darf bleiben.',
  ],
  [
    'The reports go elsewhere; add {1} to rua to see them here',
    'Die Berichte gehen anderswohin; fügen Sie {1} zu rua hinzu, um sie hier zu sehen.',
  ],
  [
    'DNS could not be asked ({1}); the last known state is kept',
    'Das DNS ließ sich nicht fragen ({1}); es gilt der letzte bekannte Zustand.',
  ],
];
