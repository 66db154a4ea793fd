import type { overview as english } from '../en/overview.ts';

/** Texts of the first page of a tenant. */
export const overview: typeof english = {
  attention: 'Braucht Aufmerksamkeit',
  allWell: 'Nichts braucht Aufmerksamkeit.',
  bouncesHigh: (rate, line) =>
    `Unzustellbar in diesem Zeitraum: ${rate}. Ab ${line} misstrauen die Anbieter von Postfächern dem Absender. Entfernen Sie Adressen, die nicht zustellbar sind.`,
  complaintsHigh: (rate, line) =>
    `Beschwerden in diesem Zeitraum: ${rate}. Sie sollten unter ${line} bleiben. Schreiben Sie nur Menschen, die darum gebeten haben.`,
  quota: (used, quota) => `${used} von ${quota} E-Mails dieses Monats sind verbraucht.`,
  approvals: 'Mail wartet auf Freigabe',
  domainStates: {
    pending: 'DNS-Einträge noch nicht gefunden',
    verified: 'bestätigt',
    failed: 'DNS-Einträge falsch',
    temporary_failure: 'DNS-Einträge seit Kurzem falsch',
  },
  moreDomains: 'Weitere Domains sind nicht bestätigt',
  webhookDisabled: 'abgeschaltet, weil die Aufrufe fehlschlugen',
  webhookFailing: 'Aufrufe schlagen fehl',
  moreWebhooks: 'Weitere Webhooks schlagen fehl',
  firstSteps: 'Erste Schritte',
  firstText: {
    live: 'Im Live-Modus wurde noch nichts gesendet. Diese Schritte führen zur ersten E-Mail.',
    test: 'Im Test-Modus wurde noch nichts gesendet. Test-Mail wird niemandem zugestellt: Hier können Sie alles ausprobieren.',
  },
  done: 'erledigt',
  steps: {
    domain: [
      'Domain hinzufügen',
      'Veröffentlichen Sie die DNS-Einträge, damit Empfänger Ihrer Mail vertrauen.',
    ],
    key: [
      'API-Schlüssel anlegen',
      'Ihr Programm sendet damit. Die Seite zeigt einen Befehl zum Ausprobieren.',
    ],
    send: ['Test senden', 'Die Seite der E-Mail zeigt, was aus ihr wird.'],
    webhook: [
      'Webhook hinzufügen',
      'Ihr Programm erfährt von Zustellungen, unzustellbaren E-Mails und Klicks.',
    ],
  },
  period: 'Zeitraum',
  periods: { today: 'Heute', '24h': '24 Stunden', '7d': '7 Tage', '30d': '30 Tage' },
  accepted: 'Angenommen',
  delivered: 'Zugestellt',
  bounced: 'Unzustellbar',
  complained: 'Beschwerden',
  opened: 'Geöffnet',
  clicked: 'Geklickt',
  charts: 'Zustellungen',
  volume: 'Empfänger',
  bounceRate: 'Anteil unzustellbar',
  complaintRate: 'Anteil Beschwerden',
  asTable: 'Zahlen als Tabelle',
  time: 'Zeit',
  waiting: 'Was wartet',
  waitingCaption: 'E-Mails nach dem Stand ihrer Empfänger',
  waitingHelp: 'Geplante E-Mails warten, bis ihre Zeit kommt.',
  nothingWaits: 'Keine Mail wartet.',
  recipients: 'Empfänger',
  oldest: 'Älteste',
  recent: 'Neueste E-Mails',
};
