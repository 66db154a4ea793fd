/**
 * Lists the records of tenants' domains that updates publish: of verified domains inside the zones, what DNS does not have yet. A tenant
 * reaches only names inside its verified domains, and none that another verified domain or this installation has. The operator, whose zones these
 * are, may have a domain published that was never verified; it stays published until it is deleted, or another domain with its name is verified.
 * The keys of a deleted domain that were published here stay until its mail has ended.
 */
import type { App } from '../app.ts';
import { type MoreRecord, moreRecordKey, moreRecordsToPublish } from '../domains/more-records.ts';
import { listEndedIn, listReceiversIn, listUnverifiedIn } from '../domains/operator-store.ts';
import {
  dkimName,
  type OptionalRecordToPublish,
  optionalRecordsToPublish,
  type RecordToPublish,
  recordsToPublish,
} from '../domains/records.ts';
import type { Domain } from '../domains/store.ts';
import type { UpdateType } from './message.ts';

type TenantRecord = { name: string; type: UpdateType; value: string };

type AnyRecord = RecordToPublish | OptionalRecordToPublish | MoreRecord;

type Listing = {
  /** Zones that are updated, in lower case. */
  zones: readonly string[];
  /** Names at which this installation has records of its own. */
  taken: ReadonlySet<string>;
  /** Records that were written before, each as its type and its name. They stay as long as they are listed. */
  written: ReadonlySet<string>;
  /** Domains that the operator has published since the daemon was started. */
  chosen: ReadonlySet<Domain['id']>;
};

/** Returns the records. */
export async function listTenantRecords(
  { config, db, clock }: Pick<App, 'config' | 'db' | 'clock'>,
  { zones, taken, written, chosen }: Listing,
): Promise<TenantRecord[]> {
  const isWritten = ({ type, name }: Pick<TenantRecord, 'name' | 'type'>) => written.has(`${type} ${name}`);
  const verified = await db.query(listReceiversIn, { zones, now: clock.now() });
  const names = [...written].flatMap((key) => KEY_NAME.exec(key)?.groups?.['domain'] ?? []);
  const unverified = await db.query(listUnverifiedIn, { zones, names, ids: [...chosen] });
  const published = unverified.filter((one) => chosen.has(one.id) || isWritten(keyOf(one)));
  const ended = await db.query(listEndedIn, { zones });
  const byName = new Map([...published, ...verified].map((domain) => [domain.name, domain]));
  const kept = ended.flatMap((domain) =>
    keysToPublish(config, domain)
      .filter((record) => isWritten(record) && !taken.has(record.name))
      .filter((record) => isFree(ownerOf(byName, record.name), domain))
      .map((record) => ({ name: record.name, type: record.type, value: recordValue(record) })),
  );
  const listed = [...byName.values()].flatMap((domain) => {
    const { parentPolicy } = domain.findings.DMARC;
    const all: AnyRecord[] = [
      ...recordsToPublish(config, domain, parentPolicy?.policy),
      ...optionalRecordsToPublish(config, domain),
      ...moreRecordsToPublish(config, domain),
    ];
    return all
      .filter((record) => isWanted(domain, record) && !taken.has(record.name))
      .filter((record) => ownerOf(byName, record.name) === domain)
      .filter((record) => isWritten(record) || !isFound(domain, record))
      .map((record) => ({ name: record.name, type: record.type, value: recordValue(record) }));
  });
  return [...kept, ...listed];
}

/** Matches a written key of a domain by type and name. */
const KEY_NAME = /^CNAME [^.]+\._domainkey\.(?<domain>.+)$/;

/**
 * Returns the record of the key of a domain. No other domain has its selector, so that a key that was written for a domain without a
 * verification says that the operator has published this one.
 */
function keyOf(domain: Domain): Pick<TenantRecord, 'name' | 'type'> {
  return { type: 'CNAME', name: dkimName(domain) };
}

/** Returns the records of the keys with which mail of a deleted domain was signed. */
function keysToPublish(config: Parameters<typeof moreRecordsToPublish>[0], domain: Domain) {
  const others = moreRecordsToPublish(config, domain);
  return [
    ...recordsToPublish(config, domain).filter(({ record }) => record === 'DKIM'),
    ...others.filter(({ purpose }) => purpose === 'dkim_next' || purpose === 'dkim_ed25519'),
  ];
}

/** Returns true unless another tenant has the name of a deleted domain now. */
function isFree(owner: Domain | undefined, { tenantId }: Domain): boolean {
  return owner === undefined || owner.tenantId === tenantId;
}

/** Returns true for a record that does no harm where nobody has asked for it. */
function isWanted({ productType, findings: { MX } }: Domain, { record }: AnyRecord): boolean {
  switch (record) {
    case 'MX':
      // Mail of a domain that only sends may arrive elsewhere.
      return productType !== 'api';
    case 'TLS_RPT':
      return MX.status === 'verified';
    case 'MTA_STS':
    case 'MTA_STS_ID':
      // The policy allows this machine alone (RFC 8461 section 4.1).
      return MX.status === 'verified' && MX.found.length === 1;
    default:
      return true;
  }
}

/** Returns the domain that a name belongs to: the longest of those that it is in. */
function ownerOf(domains: ReadonlyMap<string, Domain>, name: string): Domain | undefined {
  for (let rest = name; rest !== ''; rest = rest.slice(rest.indexOf('.') + 1)) {
    const domain = domains.get(rest);
    if (domain || !rest.includes('.')) return domain;
  }
  return undefined;
}

/** Returns true when the last check has found a record that serves, which need not be the printed one. */
function isFound({ findings }: Domain, record: AnyRecord): boolean {
  switch (record.record) {
    case 'SPF':
    case 'DKIM':
    case 'DMARC':
    case 'TRACKING':
    case 'RETURN_PATH':
    case 'MX':
      return findings[record.record]?.status === 'verified';
    default:
      return findings.CLIENTS?.[moreRecordKey(record)]?.status === 'verified';
  }
}

/** Returns the value as RecordValue has it. */
function recordValue(record: AnyRecord): string {
  if (record.type === 'MX') return `${record.priority} ${record.value}`;
  if (record.type === 'SRV') return `${record.priority} ${record.weight} ${record.port} ${record.value}`;
  return record.value;
}
