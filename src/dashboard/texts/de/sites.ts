import type { sites as english } from '../en/sites.ts';

/** Texts of the operator's pages about sites, about the delivery to an address, and about the mail of all tenants. */
export const sites: typeof english = {
  title: 'Ziele',
  text: 'Ein Ziel ist eine Gruppe von Hosts, die gemeinsam E-Mails annehmen, etwa die eines Anbieters. Ist ein Ziel ausgesetzt, werden seine E-Mails zurückgehalten, bis es fortgesetzt wird.',
  none: 'Nichts wartet, und kein Ziel ist ausgesetzt.',
  site: 'Ziel',
  state: 'Status',
  suspended: 'ausgesetzt',
  delivering: 'wird beliefert',
  since: 'seit',
  suspend: 'Aussetzen',
  resume: 'Fortsetzen',
  retry: 'Jetzt erneut versuchen',
  mail: 'Seine E-Mails',
  newest: (count) => `Die neuesten ${count} E-Mails.`,
  allEmails: 'E-Mails aller Mandanten',
  allEmailsText: 'Nur Umschläge werden gezeigt: Die Post der Menschen bleibt privat.',
  needTenant: 'Geben Sie auch den Mandanten ein: Adressen werden in einem Mandanten gesucht.',
  to: 'Adresse eines Empfängers',
  broadcasts: 'Rundmails aller Mandanten',
  broadcastsText:
    'Die neuesten 50, ohne ihren Inhalt. Wird eine angehalten, bleibt erhalten, was noch nicht gesendet ist.',
  from: 'Von',
  test: 'Zustellung testen',
  testText:
    'Verbindet sich mit den Servern einer Adresse bis zum Befehl RCPT und zeigt jeden Schritt: Route, DNS, Richtlinie, TLS und Antworten. Keine Nachricht wird gesendet. Das dauert bis zu 90 Sekunden.',
  testAddress: 'Adresse',
  testTenant: 'Ausgehende Routen dieses Mandanten (ID oder Name)',
  testNow: 'Testen',
  testOf: (address) => `Zustellung an ${address}`,
  accepted: 'würde jetzt angenommen',
  notAccepted: 'würde jetzt nicht zugestellt',
  steps: { route: 'Route', dns: 'DNS', policy: 'Richtlinie' },
  session: 'SMTP-Sitzung',
  result: 'Ergebnis',
  back: 'Andere Adresse testen',
};
