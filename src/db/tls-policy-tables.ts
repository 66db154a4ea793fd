/** The data dictionary: TLS policies of other domains, and what sessions with their hosts came to. */
import { clusteredTable, initially, integer, key, type Row, text } from './table.ts';

/** Written by tls-policies/store.ts: the policy of MTA-STS that a domain has published, until it expires. */
export const stsPolicies = clusteredTable({
  /** In A-labels and lower case. */
  domain: key(text()),
  /** Id of the TXT record of the domain when the policy was fetched. */
  policyId: text(),
  mode: text<'enforce' | 'testing' | 'none'>(),
  /** JSON list of the patterns of its MX hosts. */
  mx: text(),
  maxAgeSeconds: integer(),
  expiresAt: integer(),
  /** Time of the next attempt to fetch it again. */
  refreshAt: integer(),
}).indexedBy({
  stsPoliciesByRefresh: '(refreshAt)',
  stsPoliciesByExpiry: '(expiresAt)',
});
export type StsPolicyRow = Row<typeof stsPolicies>;

/** Written by tls-policies/store.ts: the report about TLS with a domain on a day, until it is sent. */
export const tlsReports = clusteredTable({
  /** Start of the day (UTC). */
  day: key(integer()),
  /** Domain whose TXT record asks for reports. */
  domain: key(text()),
  /** Number of failed attempts to send it. */
  attempts: integer(),
  dueAt: integer(),
  /** JSON list of the destinations that have the report: URLs, and `mail` once it is queued. */
  sent: initially('[]', text()),
}).indexedBy({
  tlsReportsDue: '(dueAt)',
});
export type TlsReportRow = Row<typeof tlsReports>;

/** Written by tls-policies/store.ts: the policies that sessions with the hosts of a domain were opened by on a day. */
export const tlsReportPolicies = clusteredTable({
  day: key(integer()),
  domain: key(text()),
  /** Number of the policy among those of the day and the domain, from 1. */
  number: key(integer()),
  /** JSON of the policy (mail/tls-policy/reported-session.ts). */
  policy: text(),
});
export type TlsReportPolicyRow = Row<typeof tlsReportPolicies>;

/** Written by tls-policies/store.ts: how many sessions with the hosts of a domain ended alike on a day. */
export const tlsSessions = clusteredTable({
  day: key(integer()),
  domain: key(text()),
  /** Number of the policy in `tlsReportPolicies`. */
  policy: key(integer()),
  /** JSON of what failed; empty for sessions that met the policy. */
  failure: key(text()),
  sessions: integer(),
});
export type TlsSessionRow = Row<typeof tlsSessions>;
