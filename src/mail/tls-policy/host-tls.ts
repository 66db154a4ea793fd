/**
 * Defines what a session with a mail server must prove before mail is sent in it, and how that follows from the policies of the domain
 * (RFC 7672, RFC 8461). DANE of a host comes before MTA-STS of the domain, and the operator's word before both.
 */
import { createHash } from 'node:crypto';
import type { DnsLookups } from '../../system/dns.ts';
import { type FoundTlsa, findTlsa, type NamedHost } from './dane-lookup.ts';
import type { DaneIdentity } from './dane-verify.ts';
import { allowsHost, type StsPolicy } from './sts-policy.ts';

/** The requirement of a host, as plain data that can cross to another thread. */
export type HostTls =
  /** TLS is not used, because the operator says so. */
  | { kind: 'none' }
  /** TLS is used where the host offers it, and its certificate need not be valid (RFC 7435). */
  | { kind: 'opportunistic' }
  /** TLS is required. The certificate need not be valid. */
  | { kind: 'required' }
  /** TLS is required, with a certificate that is valid for the name of the host. */
  | { kind: 'verified' }
  /**
   * TLS is required, with a certificate that TLSA records name. `base` is the name of the host in SNI (RFC 7672 section 8.1). `names` hold
   * for all domains with the host; that of the recipients' own domain is added for their mail alone.
   */
  | ({ kind: 'dane'; base: string } & DaneIdentity)
  /** The host is not used, except for mail that asks that policies are not enforced (RFC 8689 section 4.2.2). */
  | { kind: 'refused'; by: 'dnssec' | 'mta-sts'; reason: string };

/** The operator's word for the mail of a route. */
export type TlsWord = 'required-verified' | 'required' | 'opportunistic' | 'none';

/** The facts that hold for all hosts of a domain. */
export type DomainTls = {
  /** Domain of the recipients, in A-labels. */
  domain: string;
  /** The operator's word; undefined when the policies of the domain decide. */
  word?: TlsWord | undefined;
  /** The policy of MTA-STS; undefined when there is none. */
  sts?: StsPolicy | undefined;
  /** True when the MX records of the domain are proven by DNSSEC, and DANE is in use. */
  isSecure: boolean;
  /** Name that has the MX records, when the domain is an alias of it. */
  aliasTarget?: string | undefined;
};

export const OPPORTUNISTIC: HostTls = { kind: 'opportunistic' };

const OF_WORD: Readonly<Record<TlsWord, HostTls>> = {
  'required-verified': { kind: 'verified' },
  required: { kind: 'required' },
  opportunistic: OPPORTUNISTIC,
  none: { kind: 'none' },
};

/** The requirement of a host. */
export type QualifiedHost = {
  tls: HostTls;
  /** True when DNSSEC or MTA-STS proves that the host is one of the domain, as mail with REQUIRETLS asks (RFC 8689 section 4.2.1). */
  isNameProven: boolean;
  /** Time for which this remains valid, in milliseconds. */
  ttlMs: number;
};

/** Returns what a session with a host of the domain must prove. It never rejects because of DNS. */
export async function qualifyHost(
  dns: Pick<DnsLookups, 'tlsa' | 'cname'>,
  domain: DomainTls,
  host: NamedHost,
): Promise<QualifiedHost> {
  const { word, sts, isSecure } = domain;
  const isNameProven = isSecure || (sts?.mode === 'enforce' && allowsHost(sts, host.name));
  if (word !== undefined) return { tls: OF_WORD[word], isNameProven, ttlMs: Number.POSITIVE_INFINITY };
  return { ...(await requirementOfPolicies(dns, domain, host)), isNameProven };
}

async function requirementOfPolicies(
  dns: Pick<DnsLookups, 'tlsa' | 'cname'>,
  domain: DomainTls,
  host: NamedHost,
): Promise<Pick<QualifiedHost, 'tls' | 'ttlMs'>> {
  const tlsa: FoundTlsa = domain.isSecure ? await findTlsa(dns, host) : NO_TLSA;
  switch (tlsa.kind) {
    case 'failed':
      return {
        tls: { kind: 'refused', by: 'dnssec', reason: `its TLSA records cannot be read (${tlsa.reason})` },
        ttlMs: 0,
      };
    case 'usable': {
      const { base, records, ttlMs } = tlsa;
      const names = [...new Set([base, host.name, domain.aliasTarget ?? base])];
      return { tls: { kind: 'dane', base, records, names }, ttlMs };
    }
    case 'unusable': {
      const ofSts = requirementOfSts(domain, host);
      // TLSA records that nobody can check still promise TLS (RFC 7672 section 2.2).
      return { tls: ofSts.kind === 'opportunistic' ? { kind: 'required' } : ofSts, ttlMs: tlsa.ttlMs };
    }
    case 'none':
      return { tls: requirementOfSts(domain, host), ttlMs: tlsa.ttlMs };
  }
}

const NO_TLSA: FoundTlsa = { kind: 'none', ttlMs: Number.POSITIVE_INFINITY };

function requirementOfSts({ domain, sts }: DomainTls, { name }: NamedHost): HostTls {
  if (sts?.mode !== 'enforce') return OPPORTUNISTIC;
  if (allowsHost(sts, name)) return { kind: 'verified' };
  return { kind: 'refused', by: 'mta-sts', reason: `the MTA-STS policy of ${domain} does not name it` };
}

/**
 * Returns the part of a site's key that keeps domains apart whose hosts must prove different things; empty for domains without
 * policies. It depends on the domain alone and not on what was found about its hosts, so that no lookup that fails for a moment
 * has a domain share the sessions of others.
 */
export function postureOf({ word, sts, isSecure, aliasTarget }: Omit<DomainTls, 'domain'>): string {
  if (word !== undefined) return ` tls=${word}`;
  const ofSts = sts?.mode === 'enforce' ? ` mta-sts=${fingerprintOf(sts.mx)}` : '';
  // Hosts of an alias may have a certificate for its target (RFC 7672 section 3.2.2), which proves nothing to other domains.
  const ofAlias = isSecure && aliasTarget !== undefined ? ` alias=${aliasTarget}` : '';
  return `${isSecure ? ' dnssec' : ''}${ofAlias}${ofSts}`;
}

/** Number of characters that tell policies apart. */
const FINGERPRINT_CHARACTERS = 16;

function fingerprintOf(patterns: readonly string[]): string {
  const digest = createHash('sha256')
    .update([...patterns].sort().join(','))
    .digest('hex');
  return digest.slice(0, FINGERPRINT_CHARACTERS);
}
