import type { webhooks as english } from '../en/webhooks.ts';

/** Texts of the pages about webhook endpoints. */
export const webhooks: typeof english = {
  title: 'Webhooks',
  ofMode: {
    live: 'Endpunkte des Live-Modus bekommen die Ereignisse echter Mail.',
    test: 'Endpunkte des Test-Modus bekommen die Ereignisse simulierter Mail.',
  },
  none: 'Noch keine Endpunkte. Fügen Sie einen hinzu, und Ereignisse werden an ihn gesendet.',
  add: 'Endpunkt hinzufügen',
  url: 'URL',
  urlHelp:
    'Hierhin werden Ereignisse per POST gesendet. Die URL beginnt mit https://. Für http:// und private Adressen setzt der Betreiber webhooks.allowHttp und outbound.allowTargets.',
  urlHelpWithHttp:
    'Hierhin werden Ereignisse per POST gesendet. Die URL beginnt mit https:// oder http://. Private Adressen brauchen die Einstellung outbound.allowTargets des Betreibers.',
  description: 'Beschreibung',
  events: 'Ereignisse',
  event: 'Ereignis',
  email: 'E-Mail',
  domainHelp:
    'Der Endpunkt bekommt dann nur die Ereignisse dieser Domain. Das lässt sich später nicht ändern.',
  status: 'Status',
  enabled: 'aktiv',
  paused: 'angehalten',
  failing: 'Aufrufe schlagen fehl',
  disabled: {
    failures: 'abgeschaltet: Aufrufe schlugen tagelang fehl',
    gone: 'abgeschaltet: der Empfänger antwortete 410',
  },
  createdAt: 'Angelegt',
  disabledAt: 'Abgeschaltet',
  failingSince: 'Schlägt fehl seit',
  suspendedUntil: 'Ausgesetzt bis',
  waitingSince: 'Wartet seit',
  previousSecret: 'Voriges Geheimnis signiert bis',
  secretTitle: 'Das Geheimnis des Endpunkts',
  secretText:
    'Jeder Aufruf wird damit signiert. Speichern Sie es jetzt dort, wo Ihr Programm Signaturen prüft: Es wird nicht noch einmal gezeigt.',
  toEndpoint: 'Zum Endpunkt',
  pause: 'Anhalten',
  enable: 'Einschalten',
  log: 'Protokoll der Aufrufe',
  test: 'Test senden',
  testText:
    'Ein Beispiel eines Ereignisses wird einmal gesendet, auch an einen angehaltenen Endpunkt. Die Antwort dauert bis zu 15 Sekunden.',
  testNow: 'Beispiel senden',
  testResult: {
    title: 'Ergebnis des Tests',
    delivered: 'Der Empfänger hat angenommen',
    failed: 'Fehlgeschlagen',
  },
  responseStatus: 'Antwort',
  responseTime: 'Dauer',
  milliseconds: (value) => `${value} ms`,
  error: 'Fehler',
  settings: 'Einstellungen',
  rotate: 'Geheimnis ersetzen',
  rotateText: 'Ab jetzt signiert ein neues Geheimnis. Eine Weile kann das vorige mitsignieren.',
  overlap: 'Das vorige Geheimnis signiert',
  overlaps: (hours) =>
    hours === 0 ? 'nicht mehr' : hours < 48 ? `noch ${hours} Std.` : `noch ${hours / 24} Tage`,
  rotateNow: 'Neues Geheimnis erzeugen',
  delete: 'Endpunkt löschen',
  deleteText:
    'Aufrufe, die noch warten, unterbleiben, und das Protokoll des Endpunkts geht verloren. Das lässt sich nicht rückgängig machen.',
  deleteNow: 'Diesen Endpunkt löschen',
  noDeliveries: 'Noch nichts gesendet.',
  states: { pending: 'wartet', delivered: 'zugestellt', failed: 'fehlgeschlagen', skipped: 'ausgelassen' },
  attempts: 'Versuche',
  nextAttemptAt: 'Nächster Versuch',
  eventId: 'ID des Ereignisses',
  requestBody: 'Inhalt des Aufrufs',
  responseBody: 'Inhalt der Antwort',
  replay: 'Noch einmal senden',
  replayRange: 'Seit einem Zeitpunkt noch einmal senden',
  replayText:
    'Aufrufe, die seit diesem Zeitpunkt fehlgeschlagen oder ausgelassen sind, werden wiederholt: die ältesten sofort, die übrigen in den nächsten Minuten.',
  failedAndSkipped: 'fehlgeschlagen oder ausgelassen',
  since: (zone) => `Seit (${zone})`,
  replayed: (count) => `Aufrufe, die wiederholt werden: ${count}`,
  backToLog: 'Zurück zum Protokoll',
};
