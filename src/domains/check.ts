/**
 * Evaluates the DNS records of a domain. Only an answer is evidence: a resolver that fails gives the verdict `unknown`,
 * and states.ts decides what that means for the domain.
 */
import type { Config } from '../config/config.ts';
import type { DomainKeyRow } from '../db/tables.ts';
import { findSpfFault, isSpfRecord, spfTerms } from '../mail/auth/spf-record.ts';
import { parseDkimKeyRecord } from '../mail/dkim/key.ts';
import { findParentPolicy, LookupFailure, type ParentPolicy } from '../mail/dmarc/policy-records.ts';
import type { DnsAnswer, DnsLookups, MxRecord } from '../system/dns.ts';
import { cleanForeignText } from '../system/foreign-text.ts';
import type { TlsProbe } from '../system/tls-probe.ts';
import {
  bounceDomain,
  dkimName,
  dkimTarget,
  dmarcName,
  mxTarget,
  type PublishingDomain,
  type RecordKind,
  returnPathName,
  spfName,
  trackingTarget,
} from './records.ts';

export type Verdict =
  | { kind: 'verified'; found: string[] }
  /** The record is not published, or its target does not exist yet. */
  | { kind: 'absent'; found: string[]; error: string }
  /** A record is published, but with another value. */
  | { kind: 'wrong'; found: string[]; error: string }
  /** There was no answer. */
  | { kind: 'unknown'; error: string };

export type Verdicts = Record<RecordKind, Verdict> & {
  /** DMARC policy that a parent sets for the domain; null when none does, and undefined when DNS did not answer. */
  parentPolicy?: ParentPolicy | null | undefined;
  /** Verdict on the tracking host; null when no tracking host is set. */
  tracking: { host: string; verdict: Verdict } | null;
  /** Verdict on the return path; null when the domain cannot have a return path of its own. */
  returnPath: Verdict | null;
  /** Verdict on the MX records, which bring the domain's mail to this machine. */
  mx: Verdict;
  /** Verdicts on the other optional records, by `moreRecordKey`. Without them, the earlier findings stay. */
  more?: Readonly<Record<string, Verdict>>;
};

/** Maximum number of records of one answer that are stored and shown. */
const MAX_FOUND = 10;

type CheckApp = {
  dns: Pick<DnsLookups, 'txt' | 'cname' | 'mx' | 'a' | 'aaaa'>;
  config: Pick<Config, 'hostname'>;
  probeTls: TlsProbe;
};

/** Port of HTTPS (RFC 9110 section 4.2.2). */
const HTTPS_PORT = 443;

/**
 * Checks all records of a domain, nearly all of them concurrently. `dns` must not cache, because a check expects
 * changes.
 */
export async function checkRecords(
  { dns, config, probeTls }: CheckApp,
  domain: PublishingDomain,
): Promise<Verdicts> {
  const host = domain.trackingSubdomain;
  const returnHost = returnPathName(domain);
  const [spf, dkimAlias, dkimText, dmarc, parentPolicy, tracking, returnPath, mx] = await Promise.all([
    checkSpfRecord(dns, domain.name, spfName(config)),
    dns.cname(dkimName(domain)),
    dns.txt(dkimName(domain)),
    dns.txt(dmarcName(domain)),
    lookUpParentPolicy(dns, domain.name),
    host === null ? null : checkTracking({ dns, probeTls }, host, trackingTarget(config)),
    returnHost === null ? null : checkReturnPath(dns, returnHost, bounceDomain(config)),
    dns.mx(domain.name),
  ]);
  return {
    SPF: spf,
    DKIM: evaluateDkim(dkimAlias, dkimText, {
      target: dkimTarget(config, domain),
      key: { algorithm: 'rsa', publicKey: domain.publicKey },
    }),
    DMARC: evaluateDmarc(dmarc, parentPolicy),
    parentPolicy,
    tracking: host === null || tracking === null ? null : { host, verdict: tracking },
    returnPath,
    mx: evaluateMx(mx, mxTarget(config)),
  };
}

/**
 * Checks the SPF record: it must include the SPF record of this installation, and receivers must be able to evaluate it. The record
 * that it includes is the operator's, so the owner of the domain does not answer for it.
 */
async function checkSpfRecord(dns: CheckApp['dns'], name: string, include: string): Promise<Verdict> {
  const answer = await dns.txt(name);
  const verdict = evaluateSpf(answer, include);
  if (verdict.kind !== 'verified') return verdict;
  const [record = ''] = textsOf(answer).filter(isSpfRecord);
  const fault = await findSpfFault(dns, { domain: name, record, trusted: [include] });
  if (!fault) return verdict;
  return fault.kind === 'permerror' ? wrong(verdict.found, fault.reason) : unknown(fault.reason);
}

/** Evaluates the SPF record by itself: it must include the SPF record of this installation. */
export function evaluateSpf(answer: DnsAnswer<string>, include: string): Verdict {
  if (answer.kind === 'failed') return unknown(answer.reason);
  const records = textsOf(answer).filter(isSpfRecord);
  const [record] = records;
  if (record === undefined) return absent('No SPF record (v=spf1) is published here');
  if (records.length > 1) {
    return wrong(
      records,
      'There are several SPF records; they must be merged into one (RFC 7208 section 4.5)',
    );
  }
  const terms = spfTerms(record.toLowerCase());
  const all = terms.findIndex((term) => /^[+?~-]?all$/.test(term));
  // Terms after `all` are never evaluated (RFC 7208 section 5.1).
  const effective = all < 0 ? terms : terms.slice(0, all);
  // Only the qualifier `+`, explicit or not, turns a match into a pass (RFC 7208 sections 5.2 and 4.6.2).
  const isOurs = (term: string) => term.replace(/^\+/, '').replace(/\.$/, '') === `include:${include}`;
  if (!effective.some(isOurs)) {
    const misplaced = terms.some(isOurs) ? ' before "all"' : '';
    return wrong(records, `The SPF record must hold include:${include}${misplaced}`);
  }
  return { kind: 'verified', found: shown(records) };
}

/**
 * Evaluates the DKIM key that verifiers find at this name (RFC 6376 section 3.6.2.2). It is published by the requested CNAME,
 * which `text` has followed to its end, or in the owner's own TXT record. A CNAME without a key verifies no signature.
 */
export function evaluateDkim(
  alias: DnsAnswer<string>,
  text: DnsAnswer<string>,
  { target, key }: { target: string; key: Pick<DomainKeyRow, 'algorithm' | 'publicKey'> },
): Verdict {
  const aliases = textsOf(alias);
  const isOurAlias = aliases.some((name) => isSameName(name, target));
  const texts = textsOf(text);
  const holdsKey = texts.some((record) => {
    const found = parseDkimKeyRecord(record);
    return found?.type === key.algorithm && found.publicKeyBase64 === key.publicKey;
  });
  if (holdsKey && texts.length === 1) return { kind: 'verified', found: shown(isOurAlias ? aliases : texts) };
  if (text.kind === 'failed') return unknown(text.reason);
  if (isOurAlias) return evaluateTarget(aliases, texts, target);
  if (alias.kind === 'failed') return unknown(alias.reason);
  const found = [...aliases, ...texts];
  if (found.length === 0) return absent('No DKIM record is published here');
  return wrong(
    found,
    holdsKey
      ? 'There are several TXT records here; only the DKIM key may stay (RFC 6376 section 3.6.2.2)'
      : `This must be a CNAME to ${target}, or a TXT record with the key of this domain`,
  );
}

/**
 * Evaluates the target of the CNAME. The owner has published the CNAME; the operator of this installation publishes the
 * key.
 */
function evaluateTarget(aliases: readonly string[], texts: readonly string[], target: string): Verdict {
  const remedy = `the operator of this installation must publish this domain's key there, as "postrider domain records" prints it`;
  if (texts.length > 0) {
    return wrong(
      [...aliases, ...texts],
      `The CNAME is right, but ${target} holds something else than the one key: ${remedy}`,
    );
  }
  return absent(`The CNAME is right, but ${target} holds no key yet: ${remedy}`, aliases);
}

/** Evaluates the tracking host of the owner: it must be a CNAME that leads to our tracking host. */
export function evaluateTracking(answer: DnsAnswer<string>, target: string): Verdict {
  if (answer.kind === 'failed') return unknown(answer.reason);
  const aliases = textsOf(answer);
  if (aliases.length === 0) return absent('No CNAME is published here');
  if (aliases.some((name) => isSameName(name, target))) return { kind: 'verified', found: shown(aliases) };
  return wrong(aliases, `This must be a CNAME to ${target}`);
}

/**
 * Checks the tracking host. The certificate is looked at only when the CNAME is right, and at the addresses of our own tracking
 * host, so that nobody can make the daemon connect to others.
 */
async function checkTracking(
  { dns, probeTls }: Pick<CheckApp, 'dns' | 'probeTls'>,
  host: string,
  target: string,
): Promise<Verdict> {
  const verdict = evaluateTracking(await dns.cname(host), target);
  if (verdict.kind !== 'verified') return verdict;
  const state = await probeTls({ name: host, server: target, port: HTTPS_PORT });
  switch (state.kind) {
    case 'valid':
      return verdict;
    case 'invalid':
      return wrong(
        verdict.found,
        `The CNAME is right, but the certificate for ${host} is not (${state.reason}): the operator of this installation must obtain one`,
      );
    case 'unreachable':
      return {
        kind: 'unknown',
        error: `The CNAME is right, but the certificate of ${host} could not be seen (${state.reason}); the last known state is kept`,
      };
  }
}

/**
 * Evaluates the return path: it must be a CNAME to our host for bounces. `text` is the TXT answer at the end of that
 * CNAME, where the operator publishes SPF: without SPF the owner would gain nothing from the record.
 */
export function evaluateReturnPath(
  alias: DnsAnswer<string>,
  text: DnsAnswer<string>,
  target: string,
): Verdict {
  const verdict = evaluateTracking(alias, target);
  if (verdict.kind !== 'verified') return verdict;
  if (text.kind === 'failed') return unknown(text.reason);
  if (textsOf(text).some(isSpfRecord)) return verdict;
  return absent(
    `The CNAME is right, but ${target} holds no SPF record yet: the operator of this installation must publish it, as "postrider domain records" prints it`,
    verdict.found,
  );
}

/**
 * Checks the return path. The SPF record behind the CNAME is read only when the CNAME is right, because most domains
 * have no return path of their own.
 */
async function checkReturnPath(
  dns: Pick<DnsLookups, 'txt' | 'cname'>,
  host: string,
  target: string,
): Promise<Verdict> {
  const alias = await dns.cname(host);
  const verdict = evaluateTracking(alias, target);
  return verdict.kind === 'verified' ? evaluateReturnPath(alias, await dns.txt(host), target) : verdict;
}

/**
 * Evaluates the MX records. One that names this machine is enough, whatever its preference: a domain may name others too. MX
 * records that lead elsewhere are not wrong, since a domain may send from here and receive elsewhere.
 */
export function evaluateMx(answer: DnsAnswer<MxRecord>, target: string): Verdict {
  if (answer.kind === 'failed') return unknown(answer.reason);
  const records = answer.kind === 'found' ? answer.records : [];
  const found = records.map(
    ({ preference, exchange }) => `${preference} ${exchange === '' ? '.' : exchange}`,
  );
  if (records.some(({ exchange }) => isSameName(exchange, target))) {
    return { kind: 'verified', found: shown(found) };
  }
  if (records.length === 0) return absent('No MX record is published here');
  // A null MX stands alone (RFC 7505 section 3).
  const isNull = records.every(({ exchange }) => isSameName(exchange, ''));
  return isNull
    ? absent(
        'The null MX says that this domain takes no mail (RFC 7505); replace it to receive mail here',
        found,
      )
    : absent(
        `Mail for this domain goes to other hosts; it arrives here once an MX record names ${target}`,
        found,
      );
}

/** Returns the DMARC policy that a parent of the domain sets for it; undefined when DNS does not answer. */
export async function lookUpParentPolicy(
  dns: Pick<DnsLookups, 'txt'>,
  name: string,
): Promise<ParentPolicy | null | undefined> {
  try {
    return (await findParentPolicy(dns, name)) ?? null;
  } catch (error) {
    if (error instanceof LookupFailure) return undefined;
    throw error;
  }
}

/**
 * Evaluates the DMARC record: exactly one must exist, with a known policy. Where there is none, the policy of a parent counts
 * (RFC 9989 section 4.10.1); `undefined` as its policy means that it could not be looked up.
 */
export function evaluateDmarc(
  answer: DnsAnswer<string>,
  parentPolicy: ParentPolicy | null | undefined,
): Verdict {
  if (answer.kind === 'failed') return unknown(answer.reason);
  // Other records are not DMARC records, and two DMARC records make none apply (RFC 7489 sections 6.6.3 and 6.4).
  const records = textsOf(answer).filter((text) => /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text));
  const [record] = records;
  if (record === undefined) return evaluateParentPolicy(parentPolicy);
  if (records.length > 1) return wrong(records, 'There are several DMARC records; only one may stay');
  const policies = record.split(';').filter((tag) => /^[ \t]*p[ \t]*=/i.test(tag));
  const isPolicy = /^[ \t]*p[ \t]*=[ \t]*(?:none|quarantine|reject)[ \t]*$/i;
  if (policies.length !== 1 || !policies.every((tag) => isPolicy.test(tag))) {
    return wrong(records, 'The DMARC record must hold one p=none, p=quarantine or p=reject');
  }
  return { kind: 'verified', found: shown(records) };
}

function evaluateParentPolicy(parent: ParentPolicy | null | undefined): Verdict {
  if (parent === undefined) return unknown('the DMARC records of the parent domains');
  if (parent === null) return absent('No DMARC record (v=DMARC1) is published here');
  return {
    kind: 'verified',
    found: shown([`v=DMARC1; p=${parent.policy} (set by _dmarc.${parent.domain})`]),
  };
}

function textsOf(answer: DnsAnswer<string>): string[] {
  return answer.kind === 'found' ? answer.records : [];
}

/** Returns true when the names are equal without regard to case (RFC 1035 section 2.3.3). */
function isSameName(name: string, other: string): boolean {
  return name.toLowerCase().replace(/\.$/, '') === other;
}

/** The verdicts on records, with what was found. */
export const verdicts = {
  verified: (found: readonly string[]): Verdict => ({ kind: 'verified', found: shown(found) }),
  unknown: (reason: string): Verdict => ({
    kind: 'unknown',
    error: `DNS could not be asked (${reason}); the last known state is kept`,
  }),
  absent: (error: string, found: readonly string[] = []): Verdict => ({
    kind: 'absent',
    found: shown(found),
    error,
  }),
  wrong: (found: readonly string[], error: string): Verdict => ({
    kind: 'wrong',
    found: shown(found),
    error,
  }),
} as const;
const { unknown, absent, wrong } = verdicts;

function shown(found: readonly string[]): string[] {
  return found.slice(0, MAX_FOUND).map((text) => cleanForeignText(text));
}
