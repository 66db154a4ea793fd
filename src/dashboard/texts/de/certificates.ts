import type { certificates as english } from '../en/certificates.ts';

/** Texts of the operator's page about certificates. */
export const certificates: typeof english = {
  title: 'Zertifikate',
  text: 'Die TLS-Zertifikate für Mail und HTTPS. Zertifikate über ACME werden von selbst bestellt und erneuert.',
  filter: 'Hostname',
  names: 'Namen',
  noNames: 'keines in Gebrauch',
  key: 'Schlüssel',
  expires: 'Läuft ab',
  source: 'Herkunft',
  kinds: { configured: 'Konfiguration', self_signed: 'selbst signiert', acme: 'ACME' },
  state: 'Status',
  states: {
    valid: 'gültig',
    expired: 'abgelaufen',
    missing: 'fehlt',
    ordered: 'wird bestellt',
    failing: 'Erneuerung schlägt fehl',
  },
  renewedFrom: 'Erneuerung ab',
  next: 'Nächster Versuch',
  failures: (count) => `${count} fehlgeschlagene Versuche`,
  adviceFiles:
    'Bringen Sie die Dateien in Ordnung und lassen Sie sie neu einlesen. Bis dahin bleibt das frühere Zertifikat in Gebrauch.',
  adviceOrder:
    'Beheben Sie, was der Fehler nennt, und erneuern Sie das Zertifikat hier. Es wird auch von selbst wieder versucht.',
  adviceRecords:
    'Veröffentlichen Sie die Einträge dieses Servers; die Bestellung beginnt von selbst, sobald sie gefunden werden.',
  records: 'Einträge dieses Servers',
  renew: 'Jetzt erneuern',
  renewText: 'Das Zertifikat wird jetzt bestellt, gleich wie alt es ist und was der letzte Fehler war.',
  newKey: 'Neuen Schlüssel erzeugen',
  newKeyHelp: 'Ein veröffentlichter TLSA-Eintrag des bisherigen Schlüssels ist danach falsch.',
  reload: 'Alle Dateien neu einlesen',
  newAccount: 'Neues Konto bei der Zertifizierungsstelle anlegen',
  newAccountText:
    'Die nächste Bestellung legt ein neues Konto an, etwa wenn sich der Schlüssel des bisherigen nicht öffnen lässt. DNS-Einträge, die das bisherige Konto nennen, sind danach falsch.',
  none: 'Es ist kein Zertifikat konfiguriert, und noch wurde keines erzeugt.',
  tlsa: 'TLSA-Daten',
};
