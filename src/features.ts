/**
 * Every feature of the product, in the order in which features may import each other: each only those before it. The
 * architecture rules, the routes, the background work, retention and the prefixes of ids follow from this list.
 */
import { approvals } from './approvals/feature.ts';
import { audiences } from './audiences/feature.ts';
import { backups } from './backups/feature.ts';
import { branding } from './branding/feature.ts';
import { broadcasts } from './broadcasts/feature.ts';
import { certificates } from './certificates/feature.ts';
import { compatibility } from './compatibility/feature.ts';
import { confirmations } from './confirmations/feature.ts';
import { counts } from './counts/feature.ts';
import { dashboard } from './dashboard/feature.ts';
import { dnsUpdates } from './dns-updates/feature.ts';
import { doctor } from './doctor/feature.ts';
import { domains } from './domains/feature.ts';
import { emails } from './emails/feature.ts';
import { events } from './events/feature.ts';
import { exports } from './exports/feature.ts';
import type { DomainReach, Feature } from './feature.ts';
import { hostNames } from './host-names/feature.ts';
import { imports } from './imports/feature.ts';
import { inbound } from './inbound/feature.ts';
import { jobs } from './jobs/feature.ts';
import { ledger } from './ledger/feature.ts';
import { mailReports } from './mail-reports/feature.ts';
import { mailboxAccess } from './mailbox-access/feature.ts';
import { mailboxDelivery } from './mailbox-delivery/feature.ts';
import { mailboxImports } from './mailbox-imports/feature.ts';
import { mailboxMessages } from './mailbox-messages/feature.ts';
import { mailboxes } from './mailboxes/feature.ts';
import { mcp } from './mcp/feature.ts';
import { nameserver } from './nameserver/feature.ts';
import { outboundRoutes } from './outbound-routes/feature.ts';
import { preferences } from './preferences/feature.ts';
import { queue } from './queue/feature.ts';
import { receiving } from './receiving/feature.ts';
import { requestLog } from './request-log/feature.ts';
import { routes } from './routes/feature.ts';
import { simulator } from './simulator/feature.ts';
import { standby } from './standby/feature.ts';
import { statistics } from './statistics/feature.ts';
import { submission } from './submission/feature.ts';
import { suppressions } from './suppressions/feature.ts';
import { templates } from './templates/feature.ts';
import { tenantControl } from './tenant-control/feature.ts';
import { tenants } from './tenants/feature.ts';
import { tlsPolicies } from './tls-policies/feature.ts';
import { topics } from './topics/feature.ts';
import { tracking } from './tracking/feature.ts';
import { webhooks } from './webhooks/feature.ts';

const features = [
  events,
  { name: 'providers' },
  counts,
  tenants,
  requestLog,
  simulator,
  domains,
  nameserver,
  dnsUpdates,
  jobs,
  imports,
  exports,
  suppressions,
  topics,
  templates,
  { name: 'links' },
  branding,
  hostNames,
  audiences,
  ledger,
  tracking,
  outboundRoutes,
  tlsPolicies,
  approvals,
  queue,
  emails,
  broadcasts,
  statistics,
  confirmations,
  preferences,
  webhooks,
  { name: 'retention' },
  certificates,
  { name: 'accounts' },
  mailboxes,
  mailboxAccess,
  mailboxImports,
  submission,
  inbound,
  routes,
  mailboxMessages,
  mailboxDelivery,
  mailReports,
  receiving,
  tenantControl,
  compatibility,
  { name: 'https-ports' },
  backups,
  standby,
  doctor,
  mcp,
  dashboard,
] as const;

type AnyFeature = (typeof features)[number];
type Entry<Key extends keyof Feature> = Extract<AnyFeature, Record<Key, unknown>>[Key] extends infer Member
  ? Member extends readonly (infer One)[]
    ? One
    : Member
  : never;

/** Returns what the features list under a key, in the order of the features. */
export function entriesOf<Key extends keyof Feature>(key: Key): readonly Entry<Key>[] {
  const members = features.map((feature: Feature): unknown => feature[key] ?? []);
  return members.flat() as Entry<Key>[];
}

/** The reach of each operation for a key of one domain, by its `operationId`. */
export const DOMAIN_REACH: ReadonlyMap<string, DomainReach> = new Map(
  features.flatMap(({ reach = {} }: Feature) =>
    (Object.keys(reach) as DomainReach[]).flatMap((kind) =>
      (reach[kind] ?? []).map((operation) => [operation, kind] as const),
    ),
  ),
);

/** The operations that a key whose mail requires approval may not use, by their `operationId`. */
export const BEYOND_APPROVAL: ReadonlySet<string> = new Set(
  features.flatMap(({ beyondApproval = [] }: Feature) => beyondApproval),
);
