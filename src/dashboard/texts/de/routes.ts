import type { routes as english } from '../en/routes.ts';

/** Texts about inbound routes. */
export const routes: typeof english = {
  title: 'Eingangsrouten',
  introduction: 'Mail an eine Adresse wird als JSON an die URL ihrer Route gesendet.',
  none: 'Noch keine Routen.',
  route: 'Route',
  address: 'Adresse',
  addressHelp: 'An einer bestätigten Domain; *@domain steht für jede Adresse, die keine andere Route nennt',
  domain: 'Domain',
  destination: 'Ziel',
  destinationHelp: 'Eine https-URL',
  status: 'Status',
  enabled: 'eingeschaltet',
  failing: 'Aufrufe schlagen fehl',
  disabledReasons: {
    manual: 'ausgeschaltet',
    failures: 'ausgeschaltet nach tagelangen Fehlern',
    gone: 'ausgeschaltet: der Empfänger hat mit 410 geantwortet',
  },
  create: 'Route anlegen',
  created: 'Die Route ist bereit',
  secretText:
    'Mit diesem Geheimnis prüft Ihr Empfänger die Signaturen der Aufrufe. Es wird nicht noch einmal gezeigt und lässt sich nicht ändern.',
  open: 'Zur Route',
  back: 'Zurück zur Route',
  failingSince: 'Kein Aufruf gelang seit',
  suspendedUntil: 'Kein Aufruf vor',
  waitingSince: 'Älteste wartende Nachricht',
  disabledAt: 'Ausgeschaltet',
  createdAt: 'Angelegt',
  isEnabled: 'Nachrichten werden gesendet',
  isEnabledHelp:
    'Mail an eine ausgeschaltete Route wird abgewiesen, und ihre wartenden Aufrufe schlagen fehl.',
  test: 'Beispielnachricht senden',
  testTitle: 'Ergebnis des Tests',
  testResult: 'Ergebnis',
  delivered: 'vom Empfänger angenommen',
  notDelivered: 'nicht angenommen',
  responseStatus: 'HTTP-Status',
  responseTime: 'Antwortzeit',
  error: 'Fehler',
  removeText: (address) =>
    `Die Route von ${address} wird mit ihrem Geheimnis gelöscht. Eingegangene Nachrichten bleiben und werden nicht mehr gesendet.`,
};
