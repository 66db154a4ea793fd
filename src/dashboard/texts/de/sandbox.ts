import type {
  check as checkInEnglish,
  requests as requestsInEnglish,
  simulator as simulatorInEnglish,
} from '../en/sandbox.ts';

/** Texts of the pages for developers: the check of an email, the log of requests, and the simulator. */
export const check: typeof checkInEnglish = {
  title: 'Prüfung der E-Mail',
  help: 'Die Nachricht wird gelesen; nichts darin wird geladen oder aufgerufen.',
  size: 'Ganze Nachricht',
  findings: 'Befunde',
  nothingFound: 'Nichts gefunden.',
  severity: 'Schwere',
  severities: { error: 'Fehler', warning: 'Warnung', notice: 'Hinweis' },
  finding: 'Befund',
  count: 'Anzahl',
  places: 'Wo',
  links: 'Links',
  noLinks: 'Es gibt keine Links.',
  line: 'Zeile',
  linkText: 'Text',
  url: 'Adresse',
  omitted: (count) => `Weitere Links, die nicht gezeigt werden: ${count}.`,
  headers: 'Kopfzeilen, wie sie gesendet werden',
};

export const requests: typeof requestsInEnglish = {
  title: 'Anfragen',
  help: 'Anfragen, die Programme mit den API-Schlüsseln dieses Modus gestellt haben, ohne ihre Inhalte.',
  none: 'Noch keine Anfragen.',
  at: 'Zeit',
  request: 'Anfrage',
  status: 'Status',
  method: 'Methode',
  pathBegins: 'Pfad beginnt mit',
  duration: 'Dauer',
  client: 'Von',
  key: 'API-Schlüssel',
  keyId: 'ID des API-Schlüssels',
  id: 'ID',
};

export const simulator: typeof simulatorInEnglish = {
  title: 'Simulator',
  help: (domain) =>
    `Test-Mail geht an den Simulator. Adressen bei ${domain} verhalten sich, wie ihr Name sagt: delivered, bounced, complained, delayed, suppressed, opened, clicked. Die SMTP-Antwort an custom können Sie hier wählen.`,
  testOnly: 'Die Antwort gehört zum Test-Modus: Wählen Sie sie dort.',
  present: 'Jetzige Antwort',
  none: 'Der Simulator antwortet, wie die Adressen sagen.',
  remove: 'Antwort entfernen',
  choose: 'Antwort wählen',
  set: 'Diese Antwort verwenden',
  code: 'Code',
  codeHelp: '2yz nimmt die E-Mail an, 4yz verschiebt sie, 5yz lehnt sie ab.',
  enhancedCode: 'Erweiterter Code, zum Beispiel 5.1.1 (darf leer sein)',
  text: 'Text',
  recipients: 'Für',
  recipientNames: { custom: 'custom@ des Simulators', all: 'jeden Empfänger von Test-Mail' },
};
