import type { overview as english } from '../en/overview.ts';

/** Texts of the first page of a tenant. */
export const overview: typeof english = {
  attention: 'Braucht Aufmerksamkeit',
  allWell: 'Nichts braucht Aufmerksamkeit.',
  bouncesHigh: (rate, line) =>
    `Unzustellbar in diesem Zeitraum: ${rate}. Ab ${line} halten Anbieter die Empfängerliste für schlecht. Entfernen Sie Adressen, die nicht zustellbar sind.`,
  complaintsHigh: (rate, line) =>
    `Beschwerden in diesem Zeitraum: ${rate}. Sie sollten unter ${line} bleiben. Schreiben Sie nur Menschen, die darum gebeten haben.`,
  quota: (used, quota) => `${used} von ${quota} E-Mails dieses Monats sind verbraucht.`,
  approvals: 'Mail wartet auf Freigabe',
  domainStates: {
    pending: 'Ihre DNS-Einträge wurden noch nicht gefunden',
    verified: 'bestätigt',
    failed: 'Ihre DNS-Einträge sind falsch',
    temporary_failure: 'Ihre DNS-Einträge sind seit Kurzem falsch',
  },
  moreDomains: 'Weitere Domains sind nicht bestätigt',
  webhookDisabled: 'abgeschaltet, weil die Aufrufe scheiterten',
  webhookFailing: 'Die Aufrufe scheitern',
  moreWebhooks: 'Weitere Webhooks scheitern',
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
  recent: 'Neueste E-Mails',
};
