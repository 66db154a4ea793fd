import type { Translation } from './translation.ts';

/** Translates the purposes of the DNS records of the installation. */
export const dnsPurposes: readonly Translation[] = [
  [
    'DNS has no addresses for {1}, so its A, AAAA and SPF records are missing here: set domains.addresses (POSTRIDER_DOMAINS_ADDRESSES)',
    'Das DNS hat keine Adressen für {1}; darum fehlen hier die A-, AAAA- und SPF-Einträge: Setzen Sie domains.addresses (POSTRIDER_DOMAINS_ADDRESSES).',
  ],
  [
    'this machine; its reverse DNS (PTR) must lead back to the same name',
    'dieser Rechner; sein Reverse-DNS (PTR) muss zum selben Namen zurückführen',
  ],
  [
    'bounces come back to this machine; the return paths of domains point to this name',
    'Unzustellbarkeitsmeldungen kommen zu diesem Rechner zurück; die Rückwege der Domains zeigen auf diesen Namen',
  ],
  [
    'mail to inbound routes at the sandbox domain, which needs no domain of a tenant',
    'Mail an Routen der Sandbox-Domain, die keine Domain eines Mandanten braucht',
  ],
  ['tracking hosts of domains lead here', 'Tracking-Hosts der Domains führen hierher'],
  [
    'the DMARC records of domains may name report addresses at this machine',
    'DMARC-Einträge der Domains dürfen Adressen dieses Rechners für Berichte nennen',
  ],
  [
    'other servers report TLS problems with mail to {1}; the log shows them',
    'andere Server melden TLS-Probleme mit Mail an {1}; das Protokoll des Programms zeigt sie',
  ],
  ['the SPF records of all domains include this', 'die SPF-Einträge aller Domains schließen dies ein'],
  ['SPF of the return path', 'SPF des Rückwegs'],
  ['SPF of the name in EHLO', 'SPF des Namens in EHLO'],
  [
    'DKIM key of the installation, for forwarded mail (ARC) and reports',
    'DKIM-Schlüssel der Installation, für weitergeleitete Mail (ARC) und Berichte',
  ],
  [
    'DKIM key of {1} (the one before; needed until the mail signed with it has ended)',
    'DKIM-Schlüssel von {1} (der vorige; nötig, bis die damit signierte Mail beendet ist)',
  ],
  [
    'DKIM key of {1} (deleted; needed until its mail has ended)',
    'DKIM-Schlüssel von {1} (gelöscht; nötig, bis die Mail der Domain beendet ist)',
  ],
  [
    'DKIM key of {1} (the next one; signs once it is found in DNS)',
    'DKIM-Schlüssel von {1} (der nächste; signiert, sobald er im DNS steht)',
  ],
  ['DKIM key of {1}', 'DKIM-Schlüssel von {1}'],
  [
    'MTA-STS: the _mta-sts records of domains lead here; it changes with https.mtaSts',
    'MTA-STS: Die _mta-sts-Einträge der Domains führen hierher; er ändert sich mit https.mtaSts',
  ],
  [
    'DANE: senders that check it deliver only to this key; publish it only in a zone with DNSSEC',
    'DANE: Absender, die das prüfen, stellen nur an diesen Schlüssel zu; veröffentlichen Sie ihn nur in einer Zone mit DNSSEC',
  ],
];
