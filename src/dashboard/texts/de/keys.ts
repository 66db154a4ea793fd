import type { keys as english } from '../en/keys.ts';

/** Texts of the pages about API keys. */
export const keys: typeof english = {
  title: 'API-Schlüssel',
  ofMode: {
    live: 'Schlüssel des Live-Modus versenden Mail. Schlüssel des Test-Modus stehen auf den Seiten jenes Modus.',
    test: 'Schlüssel des Test-Modus simulieren den Versand nur. Schlüssel des Live-Modus stehen auf den Seiten jenes Modus.',
  },
  none: 'Noch keine API-Schlüssel.',
  create: 'API-Schlüssel anlegen',
  name: 'Name',
  nameHelp: 'Nur für Sie, etwa der Name des Programms, das den Schlüssel benutzt',
  hint: 'Erkennbar an',
  permission: 'Berechtigung',
  permissions: {
    full_access: 'Alles',
    sending_access: 'Nur senden',
    read_only: 'Nur lesen',
  },
  mode: 'Modus',
  domain: 'Domain',
  anyDomain: 'Jede Domain',
  domainHelp: 'Der Schlüssel sendet dann nur von dieser Domain und sieht nur, was zu ihr gehört.',
  addresses: 'IP-Adressen',
  addressesHelp:
    'Adressen und Blöcke wie 192.0.2.0/24, von denen aus der Schlüssel benutzt werden darf; leer: alle',
  approval: 'Freigabe',
  noApproval: 'Nichts wartet',
  approvals: { broadcasts: 'Rundmails warten', broadcasts_and_emails: 'Rundmails und E-Mails warten' },
  approvalHelp:
    'Mail des Schlüssels kann warten, bis eine Person sie freigibt. Ein solcher Schlüssel verwaltet keine Schlüssel und gibt nichts frei.',
  expiresAt: 'Läuft ab',
  expiresIn: (zone) => `Läuft ab (${zone})`,
  expiresHelp: 'Leer: nie',
  createdAt: 'Angelegt',
  lastUsedAt: 'Zuletzt benutzt',
  shownOnce: 'Ihr neuer API-Schlüssel',
  shownOnceText: 'Speichern Sie ihn jetzt: Er wird nicht noch einmal gezeigt.',
  tryIt: 'Ausprobieren',
  trySending: 'Dies sendet eine E-Mail an den Simulator, der niemandem etwas zustellt.',
  thenLook: 'Was daraus wurde, steht hier:',
  tryReading: 'Dies zeigt die letzte E-Mail.',
  back: 'Zurück zu den API-Schlüsseln',
  change: 'Schlüssel ändern',
  revoke: 'Widerrufen',
  revokeText:
    'Jedes Programm, das diesen Schlüssel benutzt, wird ab sofort abgewiesen. Das lässt sich nicht rückgängig machen. Bereits angenommene Mail wird noch gesendet.',
  revokeNow: 'Diesen Schlüssel widerrufen',
};
