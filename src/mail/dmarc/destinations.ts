/**
 * Finds where aggregate reports about a domain go: the `rua` addresses of its DMARC record (RFC 9989 section 4.7). An address of another
 * organization counts only when its host agrees, so that nobody can have reports sent to a victim (RFC 9990 section 4).
 */

import { isHostName } from '../../system/dns.ts';
import {
  haveSameOrganization,
  LookupFailure,
  type PolicyDns,
  type PolicyRecord,
  readPolicyRecord,
  readPolicyRecords,
} from './policy-records.ts';

type ReportDestinations =
  /** `tags` are those of the DMARC record. There is at least one address. */
  | { kind: 'found'; tags: PolicyRecord; addresses: readonly string[] }
  /** The domain wants no reports. */
  | { kind: 'none' }
  /** DNS does not answer. The caller tries again. */
  | { kind: 'failed'; reason: string };

/** Maximum number of addresses of one record. */
const MAX_ADDRESSES = 4;
/** The size after an exclamation mark is obsolete, and ignored (RFC 9989 section 4.8). */
const URI = /^mailto:([^!?,]+)(?:![0-9]+[kmgt]?)?$/i;
const ADDRESS = /^[!#$%&'*+/=?^_`{|}~0-9A-Za-z.-]{1,64}@([0-9A-Za-z.-]{1,253})$/;

type Question = {
  /** Domain whose record is at `_dmarc.<domain>`, in lower case. */
  domain: string;
  /** Host of this installation, which agrees to get reports about any domain. */
  ownHost: string;
};

/** Returns the addresses for reports about the domain. */
export async function findReportDestinations(
  dns: PolicyDns,
  question: Question,
): Promise<ReportDestinations> {
  try {
    const tags = await readPolicyRecord(dns, question.domain);
    if (!tags) return { kind: 'none' };
    const addresses = new Set<string>();
    for (const uri of urisOf(tags))
      for (const address of await verifiedAddresses(dns, question, uri)) addresses.add(address);
    return addresses.size > 0 ? { kind: 'found', tags, addresses: [...addresses] } : { kind: 'none' };
  } catch (error) {
    if (error instanceof LookupFailure) return { kind: 'failed', reason: error.message };
    throw error;
  }
}

function urisOf(tags: PolicyRecord): readonly string[] {
  const uris = (tags.get('rua') ?? '').split(',').map((uri) => uri.trim());
  return uris.filter((uri) => uri !== '').slice(0, MAX_ADDRESSES);
}

type Parsed = { address: string; host: string };

function parseUri(uri: string): Parsed | undefined {
  const address = decode(URI.exec(uri)?.[1] ?? '');
  const host = ADDRESS.exec(address)?.[1]?.toLowerCase();
  return host !== undefined && isHostName(host) ? { address, host } : undefined;
}

/** Commas and exclamation marks of an address are percent-encoded (RFC 9989 section 4.8). */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Returns the address of a URI of the same organization, or else what its host agrees to (RFC 9990 section 4). */
async function verifiedAddresses(
  dns: PolicyDns,
  { domain, ownHost }: Question,
  uri: string,
): Promise<string[]> {
  const parsed = parseUri(uri);
  if (!parsed) return [];
  const { host, address } = parsed;
  if (host === ownHost || (await haveSameOrganization(dns, domain, host))) return [address];
  const [agreed] = await readPolicyRecords(dns, `${domain}._report._dmarc.${host}`);
  if (!agreed) return [];
  if (!agreed.has('rua')) return [address];
  // The host may name other addresses, but only its own.
  const others = urisOf(agreed).map(parseUri);
  return others.every((other) => other?.host === host) ? others.flatMap((other) => other?.address ?? []) : [];
}
