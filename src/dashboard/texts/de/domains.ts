import type { domains as english } from '../en/domains.ts';

/** Texts of the pages about domains. */
export const domains: typeof english = {
  title: 'Domains',
  none: 'Noch keine Domains. Fügen Sie eine hinzu, um von ihr Mail zu senden.',
  add: 'Domain hinzufügen',
  addText:
    'Die nächste Seite zeigt die DNS-Einträge, die Sie veröffentlichen. Sobald sie gefunden sind, kann Mail gesendet werden.',
  name: 'Name',
  nameHelp: 'Eine Domain, die Ihnen gehört, oder ein Name unterhalb von ihr',
  status: 'Status',
  statuses: {
    pending: 'noch nicht gefunden',
    verified: 'bestätigt',
    failed: 'fehlgeschlagen',
    temporary_failure: 'vorübergehend gestört',
  },
  explained: {
    pending:
      'Veröffentlichen Sie die Einträge unten. Sie werden von selbst regelmäßig nachgeschlagen, und mit „Jetzt prüfen“ sofort.',
    failed:
      'Einträge fehlen oder sind falsch. Bis sie gefunden sind, kann keine Mail gesendet werden; unten steht, welche es sind.',
    temporary_failure:
      'Einträge, die richtig waren, fehlen jetzt oder sind falsch. Mail wird noch eine Weile gesendet; beheben Sie es bald.',
  },
  productType: 'Zweck',
  productTypes: { api: 'API', mailbox: 'Postfächer', both: 'API und Postfächer' },
  region: 'Region',
  verifiedAt: 'Zuletzt bestätigt',
  createdAt: 'Angelegt',
  lastCheckedAt: 'Zuletzt geprüft',
  verify: 'Jetzt prüfen',
  records: 'Einträge zum Veröffentlichen',
  recordsText:
    'Veröffentlichen Sie diese Einträge dort, wo das DNS der Domain verwaltet wird. Alle werden gebraucht.',
  optional: 'Freiwillige Einträge',
  notPublished: 'nicht veröffentlicht',
  type: 'Typ',
  recordName: 'Name',
  priority: 'Priorität',
  weight: 'Gewicht',
  port: 'Port',
  expected: 'Erwartet',
  found: 'Gefunden',
  foundNothing: 'nichts',
  notChecked: 'noch nicht nachgeschlagen',
  alternative: (type) =>
    `Falls sich dieser Eintrag nicht veröffentlichen lässt: ${type} unter demselben Namen`,
  purposes: {
    return_path: {
      title: 'Rückweg',
      text: 'Unzustellbarkeitsmeldungen kommen dann unterhalb Ihrer eigenen Domain an, sodass SPF für DMARC übereinstimmt. Ohne den Eintrag ist der Rückweg einer dieser Installation.',
    },
    inbound: {
      title: 'Mail hier empfangen',
      text: 'Mail an die Domain kommt dann hier an. Ohne den Eintrag kommt sie dort an, wohin die jetzigen MX-Einträge führen.',
    },
    clients: {
      title: 'Einstellungen von Mailprogrammen',
      text: 'Mailprogramme finden die Einstellungen der Postfächer dann von selbst.',
    },
    dkim_next: {
      title: 'Nächster DKIM-Schlüssel',
      text: 'Einmal veröffentlicht, lassen sich Schlüssel ohne weitere Änderung wechseln.',
    },
    dkim_ed25519: {
      title: 'Ed25519-Signatur',
      text: 'Mail wird auch mit diesem Schlüssel signiert, sobald der Eintrag gefunden ist.',
    },
    mta_sts: {
      title: 'Geprüftes TLS (MTA-STS)',
      text: 'Andere Server bestehen dann bei Mail an die Domain auf geprüftem TLS. Veröffentlichen Sie beide Einträge, wenn alle MX-Einträge hierher führen.',
    },
    tls_reports: {
      title: 'Berichte über TLS',
      text: 'Andere Server melden dann Probleme mit TLS, wenn sie Mail an die Domain zustellen.',
    },
  },
  dkimKeys: 'DKIM-Schlüssel',
  selector: 'Selektor',
  algorithm: 'Verfahren',
  state: 'Status',
  keyStates: {
    waiting: 'wartet auf seinen DNS-Eintrag',
    signing: 'signiert neue Mail',
    retired: 'bleibt veröffentlicht für Mail, die er signiert hat',
  },
  since: 'Seit',
  rotate: 'Schlüssel wechseln',
  rotateText:
    'Die nächsten Schlüssel werden erzeugt. Jeder signiert, sobald er im DNS unter dem Namen des Eintrags „Nächster DKIM-Schlüssel“ gefunden ist. Die bisherigen bleiben mindestens 7 Tage veröffentlicht.',
  rotateNow: 'Nächste Schlüssel erzeugen',
  settings: 'Einstellungen',
  trackingHost: 'Host für verfolgte Links',
  trackingHostHelp: (domain) => `Ein Name unterhalb der Domain, etwa links.${domain}; leer: keiner`,
  openTracking: 'Öffnungen zählen',
  clickTracking: 'Klicks zählen',
  ed25519: 'Auch mit Ed25519 signieren',
  ed25519Help: 'Der Schlüssel signiert, sobald sein freiwilliger Eintrag im DNS gefunden ist.',
  delete: 'Domain löschen',
  deleteText:
    'Von der Domain kann keine Mail mehr gesendet werden, und Mail an sie wird abgewiesen. API-Schlüssel, die auf sie beschränkt sind, verlieren ihre Wirkung. Geplante E-Mails und Rundmails stehen dem Löschen im Weg: Brechen Sie sie zuerst ab, oder warten Sie, bis sie gesendet sind.',
  waitingEmails: 'E-Mails, die warten oder geplant sind',
  deleteNow: 'Diese Domain löschen',
};
