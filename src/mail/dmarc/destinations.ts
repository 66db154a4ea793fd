/**
 * Finds where aggregate reports about a domain go: the `rua` addresses of its DMARC record (RFC 7489 sections 6.2 and 7.1). An address at
 * another domain counts only when that domain agrees, so that nobody can have reports sent to a victim.
 */
import { type DnsAnswer, type DnsLookups, isHostName } from '../../system/dns.ts';
import { parseTagList } from '../dkim/tag-list.ts';

type ReportDestination = {
  address: string;
  /** Maximum size of a message that the address takes, in bytes; undefined when it names none. */
  maxBytes: number | undefined;
};

type ReportDestinations =
  /** `tags` are those of the DMARC record. */
  | { kind: 'found'; tags: ReadonlyMap<string, string>; destinations: readonly ReportDestination[] }
  /** The domain wants no reports. */
  | { kind: 'none' }
  /** DNS does not answer. The caller tries again. */
  | { kind: 'failed'; reason: string };

/** Maximum number of addresses of one record. At least two must be supported (RFC 7489 section 6.2). Our own limit. */
const MAX_DESTINATIONS = 4;
const URI = /^mailto:([^!?,]+)(?:!([0-9]{1,12})([kmgt]?))?$/i;
const ADDRESS = /^[!#$%&'*+/=?^_`{|}~0-9A-Za-z.-]{1,64}@([0-9A-Za-z.-]{1,253})$/;
const UNIT_BYTES: Readonly<Record<string, number>> = {
  '': 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

class LookupFailure extends Error {}

/** Returns the addresses for reports about the domain whose record is at `_dmarc.<domain>`. */
export async function findReportDestinations(
  dns: Pick<DnsLookups, 'txt'>,
  domain: string,
): Promise<ReportDestinations> {
  try {
    const [tags, ...others] = await readRecords(dns, `_dmarc.${domain}`);
    if (!tags || others.length > 0) return { kind: 'none' };
    const destinations: ReportDestination[] = [];
    for (const uri of urisOf(tags)) destinations.push(...(await verifiedDestinations(dns, domain, uri)));
    return destinations.length > 0 ? { kind: 'found', tags, destinations } : { kind: 'none' };
  } catch (error) {
    if (error instanceof LookupFailure) return { kind: 'failed', reason: error.message };
    throw error;
  }
}

/** Returns the tags of each DMARC record at a name. `v=DMARC1` comes first (RFC 7489 section 6.3). */
async function readRecords(
  dns: Pick<DnsLookups, 'txt'>,
  name: string,
): Promise<ReadonlyMap<string, string>[]> {
  if (!isHostName(name)) return [];
  const answer: DnsAnswer<string> = await dns.txt(name);
  if (answer.kind === 'failed') throw new LookupFailure(`${name}: ${answer.reason}`);
  if (answer.kind !== 'found') return [];
  return answer.records.flatMap((text) => {
    const tags = parseTagList(text);
    const [first] = tags ?? [];
    return tags && first?.[0] === 'v' && first[1] === 'DMARC1' ? [tags] : [];
  });
}

function urisOf(tags: ReadonlyMap<string, string>): readonly string[] {
  const uris = (tags.get('rua') ?? '').split(',').map((uri) => uri.trim());
  return uris.filter((uri) => uri !== '').slice(0, MAX_DESTINATIONS);
}

type Parsed = ReportDestination & { host: string };

function parseUri(uri: string): Parsed | undefined {
  const [, written = '', size, unit = ''] = URI.exec(uri) ?? [];
  const address = decode(written);
  const host = ADDRESS.exec(address)?.[1]?.toLowerCase();
  if (host === undefined || !isHostName(host)) return undefined;
  const maxBytes = size === undefined ? undefined : Number(size) * (UNIT_BYTES[unit.toLowerCase()] ?? 1);
  return { address, host, maxBytes };
}

/** Commas and exclamation marks of an address are percent-encoded (RFC 7489 section 6.2). */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** Returns the destination of a URI if it is within the domain, or else what its host agrees to (RFC 7489 section 7.1). */
async function verifiedDestinations(
  dns: Pick<DnsLookups, 'txt'>,
  domain: string,
  uri: string,
): Promise<ReportDestination[]> {
  const parsed = parseUri(uri);
  if (!parsed) return [];
  const { host, ...destination } = parsed;
  if (host === domain || host.endsWith(`.${domain}`)) return [destination];
  const [agreed] = await readRecords(dns, `${domain}._report._dmarc.${host}`);
  if (!agreed) return [];
  if (!agreed.has('rua')) return [destination];
  // The host may name other addresses, but only its own.
  const others = urisOf(agreed).map(parseUri);
  if (others.some((other) => other?.host !== host)) return [];
  return others.flatMap((other) =>
    other ? [{ address: other.address, maxBytes: other.maxBytes ?? destination.maxBytes }] : [],
  );
}
