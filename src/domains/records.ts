/**
 * The DNS records that allow this installation to send for a domain (specification 2.2), and the names of this
 * installation that they refer to. This module has no side effects.
 */
import type { Config } from '../config/config.ts';
import type { DomainRow } from '../db/tables.ts';
import { dkimKeyRecord } from '../mail/dkim/key.ts';
import type { DmarcPolicyWord } from '../mail/dmarc/policy-records.ts';
import { reportAddress } from './report-address.ts';

/** Records that a domain needs to be verified. */
export const RECORD_KINDS = ['SPF', 'DKIM', 'DMARC'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Length of a selector: `pr` and 8 random characters. */
export const SELECTOR_CHARACTERS = 10;

export type DnsRecord = { type: 'TXT' | 'CNAME'; name: string; value: string };

/** `priority` is the preference of the record, lowest first (RFC 5321 section 5.1). */
type MxToPublish = { type: 'MX'; name: string; value: string; priority: number };

export type RecordToPublish = DnsRecord & {
  record: RecordKind | 'TRACKING';
  /** A record that serves the same purpose, for providers of DNS that cannot publish this one. */
  alternative?: DnsRecord;
};

/** An optional record: the domain works without it. It is never part of `records`, which are all required. */
export type OptionalRecordToPublish =
  | (DnsRecord & { record: 'RETURN_PATH'; purpose: 'return_path' })
  | (MxToPublish & { record: 'MX'; purpose: 'inbound' });

/** Preference of the suggested MX record. It leaves preferences below it free for hosts that come first. */
const MX_PRIORITY = 10;

/** Maximum length of an address. RFC 5321 section 4.5.3.1.3: a path holds at most 256 octets, its angle brackets included. */
const MAX_ADDRESS_CHARACTERS = 254;
/** Label that leads from a domain to the host of its return paths. */
const RETURN_PATH_PREFIX = 'bounce.';
/** Length of the local part of every return path (queue/return-path.ts). */
const RETURN_LOCAL_PART_CHARACTERS = 56;

export type PublishingDomain = Pick<
  DomainRow,
  'id' | 'name' | 'selector' | 'publicKey' | 'trackingSubdomain' | 'productType'
>;

/**
 * Returns SPF, DKIM and DMARC, in this order, then TRACKING when a tracking host is set. `policy` is the DMARC policy to publish:
 * that of the parent of the domain where one sets it, because a weaker one would take its protection away.
 */
export function recordsToPublish(
  config: Pick<Config, 'hostname'>,
  domain: PublishingDomain,
  policy: DmarcPolicyWord = 'none',
): RecordToPublish[] {
  const keyName = dkimName(domain);
  const needed: RecordToPublish[] = [
    // SPF is published at the domain itself (RFC 7208 section 3.1). `~all` is a softfail, since the domain may have other
    // senders.
    { record: 'SPF', type: 'TXT', name: domain.name, value: `v=spf1 include:${spfName(config)} ~all` },
    {
      record: 'DKIM',
      type: 'CNAME',
      name: keyName,
      value: dkimTarget(config, domain),
      alternative: { type: 'TXT', name: keyName, value: dkimKeyRecord(domain.publicKey) },
    },
    // The policy `none` asks receivers for reports only. No mail comes from names that do not exist, so those are refused from the
    // start (RFC 9989 section 4.7).
    {
      record: 'DMARC',
      type: 'TXT',
      name: dmarcName(domain),
      value: `v=DMARC1; p=${policy}; np=reject; rua=mailto:${reportAddress(config, domain)}`,
    },
  ];
  if (domain.trackingSubdomain === null) return needed;
  return [
    ...needed,
    { record: 'TRACKING', type: 'CNAME', name: domain.trackingSubdomain, value: trackingTarget(config) },
  ];
}

/**
 * Returns the optional records: the return path, for a domain whose name is short enough to have one, and the MX record that
 * brings the domain's mail to this machine.
 */
export function optionalRecordsToPublish(
  config: Pick<Config, 'hostname'>,
  domain: Pick<DomainRow, 'name'>,
): OptionalRecordToPublish[] {
  const returnPath = returnPathName(domain);
  const optional: OptionalRecordToPublish[] = [
    {
      record: 'MX',
      purpose: 'inbound',
      type: 'MX',
      name: domain.name,
      value: mxTarget(config),
      priority: MX_PRIORITY,
    },
  ];
  if (returnPath === null) return optional;
  const value = bounceDomain(config);
  return [
    { record: 'RETURN_PATH', purpose: 'return_path', type: 'CNAME', name: returnPath, value },
    ...optional,
  ];
}

/**
 * Returns the name of the SPF record that lists the addresses of this installation. The operator publishes it once
 * for all domains.
 */
export function spfName(config: Pick<Config, 'hostname'>): string {
  return `_spf.${config.hostname.toLowerCase()}`;
}

/** Returns the domain of return paths, which is used unless the sender's domain has one of its own. */
export function bounceDomain(config: Pick<Config, 'hostname'>): string {
  return `bounce.${config.hostname.toLowerCase()}`;
}

/**
 * Returns the domain of the return paths of one domain's mail. Once it is a CNAME to `bounceDomain`, SPF passes for a
 * name that is aligned with the From address (RFC 7489 section 3.1.2). Null when addresses there would be longer than RFC 5321
 * allows.
 */
export function returnPathName({ name }: Pick<DomainRow, 'name'>): string | null {
  const host = `${RETURN_PATH_PREFIX}${name}`;
  const isTooLong = RETURN_LOCAL_PART_CHARACTERS + '@'.length + host.length > MAX_ADDRESS_CHARACTERS;
  return isTooLong ? null : host;
}

/** Returns the host that the MX records of domains name: this machine. */
export function mxTarget(config: Pick<Config, 'hostname'>): string {
  return config.hostname.toLowerCase();
}

/** Returns the domain whose return paths would be at this host, or undefined for a host of another form. */
export function domainOfReturnPath(host: string): string | undefined {
  return host.startsWith(RETURN_PATH_PREFIX) ? host.slice(RETURN_PATH_PREFIX.length) : undefined;
}

/** Returns the target of the CNAMEs of all tracking hosts. */
export function trackingTarget(config: Pick<Config, 'hostname'>): string {
  return `track.${config.hostname.toLowerCase()}`;
}

/** Returns the name at which verifiers look up the domain's key (RFC 6376 section 3.6.2.1). */
export function dkimName(domain: Pick<DomainRow, 'name' | 'selector'>): string {
  return `${domain.selector}._domainkey.${domain.name}`;
}

/**
 * Returns the name at which the operator publishes the key of this domain row (operator-records.ts). Another tenant
 * that adds the same domain gets another name, so records of one tenant never verify the domain of another.
 */
export function dkimTarget(
  config: Pick<Config, 'hostname'>,
  domain: Pick<DomainRow, 'id' | 'selector'>,
): string {
  const body = domain.id.slice(domain.id.indexOf('_') + 1);
  return `${domain.selector}.${body}._domainkey.${config.hostname.toLowerCase()}`;
}

/** Returns the name of the DMARC record (RFC 7489 section 6.1). */
export function dmarcName(domain: Pick<DomainRow, 'name'>): string {
  return `_dmarc.${domain.name}`;
}
