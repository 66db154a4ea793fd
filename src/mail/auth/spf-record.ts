/**
 * Finds what makes an SPF record a permanent error at receivers (RFC 7208 section 2.6.7). The whole record is read, with the
 * records that it includes, because the error hits whichever mail is not accepted by an earlier term.
 */
import { validateTerms } from 'mailauth/lib/spf/syntax.js';
import { type DnsAnswer, type DnsLookups, isHostName } from '../../system/dns.ts';

type SpfDns = Pick<DnsLookups, 'txt' | 'a' | 'aaaa' | 'mx'>;

type SpfRecordFault =
  /** Receivers answer `permerror`. `reason` is a sentence about the record. */
  | { kind: 'permerror'; reason: string }
  /** DNS does not answer, so nothing is known. */
  | { kind: 'unknown'; reason: string };

/** Maximum number of terms that need a lookup, those of included records among them (RFC 7208 section 4.6.4). */
const MAX_LOOKUPS = 10;
/** Maximum number of lookups that find nothing (RFC 7208 section 4.6.4). */
const MAX_VOID_LOOKUPS = 2;
/** Maximum number of exchangers of one `mx` term (RFC 7208 section 4.6.4). */
const MAX_MX_HOSTS = 10;
/** Maximum length of a record. RFC 7208 section 3.4 asks for 450 octets; a longer record is hostile. Our own limit. */
const MAX_RECORD_CHARACTERS = 8_192;
/** Matches a mechanism whose evaluation asks DNS, with the name that it is given, if any. */
const LOOKUP_MECHANISM = /^[+?~-]?(include|a|mx|ptr|exists)(?::([^/]*))?(?:\/|$)/i;
const MACRO = '%';

/** The state of one evaluation, which included records share. */
type Evaluation = {
  dns: SpfDns;
  /** Names whose records are the business of others and are taken as valid, in lower case. */
  trusted: ReadonlySet<string>;
  lookups: number;
  voids: number;
};

/** Returns true for an SPF record: it starts with the version, followed by a space or the end (RFC 7208 section 4.5). */
export function isSpfRecord(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text);
}

/** Returns the terms of a record, without its version. Terms are separated by any number of spaces (RFC 7208 section 4.5). */
export function spfTerms(record: string): string[] {
  return record.split(' ').slice(1).filter(Boolean);
}

/**
 * Returns the first fault of a record of `domain`, or undefined when receivers can evaluate it. The records of `trusted` names are
 * not looked up.
 */
export async function findSpfFault(
  dns: SpfDns,
  { domain, record, trusted }: { domain: string; record: string; trusted: readonly string[] },
): Promise<SpfRecordFault | undefined> {
  const names = new Set(trusted.map((name) => normalize(name)));
  return checkRecord({ dns, trusted: names, lookups: 0, voids: 0 }, domain, record);
}

async function checkRecord(
  evaluation: Evaluation,
  domain: string,
  record: string,
): Promise<SpfRecordFault | undefined> {
  if (record.length > MAX_RECORD_CHARACTERS)
    return permerror(`The SPF record of ${domain} is longer than ${MAX_RECORD_CHARACTERS} characters`);
  const terms = spfTerms(record);
  const invalid = findSyntaxError(terms);
  if (invalid !== undefined)
    return permerror(`The SPF record of ${domain} cannot be read: ${invalid} (RFC 7208 section 4.6)`);
  const all = terms.findIndex((term) => /^[+?~-]?all$/i.test(term));
  // Terms after `all` are never evaluated, and neither is `redirect` in a record with `all` (RFC 7208 sections 5.1 and 6.1).
  for (const term of all < 0 ? terms : terms.slice(0, all)) {
    const fault = await checkMechanism(evaluation, domain, term);
    if (fault) return fault;
  }
  const redirect = all < 0 ? terms.find((term) => /^redirect=/i.test(term)) : undefined;
  if (redirect === undefined) return undefined;
  return countLookup(evaluation) ?? followRecord(evaluation, redirect, redirect.slice('redirect='.length));
}

/** Returns the first syntax error, with the term that has it. */
function findSyntaxError(terms: readonly string[]): string | undefined {
  for (const term of terms) {
    const error = validateTerms([term]);
    if (error !== false) return `"${term}" is wrong (${error})`;
  }
  const error = validateTerms([...terms]);
  return error === false ? undefined : error;
}

async function checkMechanism(
  evaluation: Evaluation,
  domain: string,
  term: string,
): Promise<SpfRecordFault | undefined> {
  const [, mechanism, given] = LOOKUP_MECHANISM.exec(term) ?? [];
  if (mechanism === undefined) return undefined;
  const tooMany = countLookup(evaluation);
  if (tooMany) return tooMany;
  const name = given ?? domain;
  switch (mechanism.toLowerCase()) {
    case 'include':
      return followRecord(evaluation, term, term.slice(term.indexOf(':') + 1));
    case 'a':
      return isFixedName(name) ? checkAddresses(evaluation, name) : undefined;
    case 'mx':
      return isFixedName(name) ? checkExchangers(evaluation, name) : undefined;
    default:
      // The names of `ptr` and `exists` depend on the client, which is not known here.
      return undefined;
  }
}

function countLookup(evaluation: Evaluation): SpfRecordFault | undefined {
  evaluation.lookups += 1;
  if (evaluation.lookups <= MAX_LOOKUPS) return undefined;
  return permerror(
    `The SPF record needs more than ${MAX_LOOKUPS} lookups, those of the records that it includes among them (RFC 7208 section 4.6.4)`,
  );
}

/** Checks the record that `include` or `redirect` names. Where there is none, evaluation ends (RFC 7208 sections 5.2 and 6.1). */
async function followRecord(
  evaluation: Evaluation,
  term: string,
  name: string,
): Promise<SpfRecordFault | undefined> {
  const domain = normalize(name);
  if (name.includes(MACRO) || evaluation.trusted.has(domain)) return undefined;
  // A name that cannot be looked up has no record (RFC 7208 section 4.3).
  if (!isHostName(name)) return permerror(`"${term}" names no domain (RFC 7208 section 4.3)`);
  const answer = await evaluation.dns.txt(domain);
  if (answer.kind === 'failed') return unanswered(domain, answer);
  const records = answer.kind === 'found' ? answer.records.filter(isSpfRecord) : [];
  const [record] = records;
  if (record === undefined) return permerror(`"${term}" leads to no SPF record (RFC 7208 section 5.2)`);
  if (records.length > 1) return permerror(`"${term}" leads to several SPF records (RFC 7208 section 4.5)`);
  return checkRecord(evaluation, domain, record);
}

async function checkAddresses(evaluation: Evaluation, name: string): Promise<SpfRecordFault | undefined> {
  const [a, aaaa] = await Promise.all([evaluation.dns.a(name), evaluation.dns.aaaa(name)]);
  // A client uses one family of addresses, so a name that has the other one may well be meant.
  if (a.kind === 'found' || aaaa.kind === 'found') return undefined;
  return isVoid(a) && isVoid(aaaa) ? countVoid(evaluation, name) : undefined;
}

async function checkExchangers(evaluation: Evaluation, name: string): Promise<SpfRecordFault | undefined> {
  const answer = await evaluation.dns.mx(name);
  if (answer.kind === 'found' && answer.records.length > MAX_MX_HOSTS)
    return permerror(`${name} has more than ${MAX_MX_HOSTS} MX records for "mx" (RFC 7208 section 4.6.4)`);
  return isVoid(answer) ? countVoid(evaluation, name) : undefined;
}

function countVoid(evaluation: Evaluation, name: string): SpfRecordFault | undefined {
  evaluation.voids += 1;
  if (evaluation.voids <= MAX_VOID_LOOKUPS) return undefined;
  return permerror(
    `More than ${MAX_VOID_LOOKUPS} names of the SPF record do not exist, ${name} among them (RFC 7208 section 4.6.4)`,
  );
}

function isVoid(answer: DnsAnswer<unknown>): boolean {
  return answer.kind === 'no-name' || answer.kind === 'no-data';
}

/** Returns true for a name without macros that can be looked up. */
function isFixedName(name: string): boolean {
  return !name.includes(MACRO) && isHostName(name);
}

function normalize(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

function permerror(reason: string): SpfRecordFault {
  return { kind: 'permerror', reason };
}

function unanswered(name: string, { reason }: { reason: string }): SpfRecordFault {
  return { kind: 'unknown', reason: `${name}: ${reason}` };
}
