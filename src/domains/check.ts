/**
 * What DNS says of each record, as a verdict. Only an answer is evidence: a resolver that fails says nothing
 * (`unknown`), and what that means for the domain's state is for states.ts.
 */
import type { Config } from '../config.ts';
import { parseDkimKeyRecord } from '../mail/dkim/key.ts';
import type { Dns, DnsAnswer } from '../system/dns.ts';
import {
  dkimName,
  dkimTarget,
  dmarcName,
  type PublishingDomain,
  type RecordKind,
  spfName,
} from './records.ts';

export type Verdict =
  | { kind: 'verified'; found: string[] }
  /** Nothing of this kind is published. */
  | { kind: 'absent'; error: string }
  /** Something is, but not what we asked for. */
  | { kind: 'wrong'; found: string[]; error: string }
  /** DNS could not say. */
  | { kind: 'unknown'; error: string };

export type Verdicts = Record<RecordKind, Verdict>;

/** RFC 7208 4.6.4. */
const SPF_LOOKUP_LIMIT = 10;
/** What is shown of a stranger's answer. */
const MOST_FOUND = 10;
const FOUND_LIMIT_CHARACTERS = 1_000;

/** Asks for all of them at once. */
export async function checkRecords(
  app: { dns: Dns; config: Pick<Config, 'hostname'> },
  domain: PublishingDomain,
): Promise<Verdicts> {
  const [spf, dkimAlias, dkimText, dmarc] = await Promise.all([
    app.dns.txt(domain.name),
    app.dns.cname(dkimName(domain)),
    app.dns.txt(dkimName(domain)),
    app.dns.txt(dmarcName(domain)),
  ]);
  return {
    SPF: judgeSpf(spf, spfName(app.config)),
    DKIM: judgeDkim(dkimAlias, dkimText, dkimTarget(app.config, domain), domain.publicKey),
    DMARC: judgeDmarc(dmarc),
  };
}

export function judgeSpf(answer: DnsAnswer<string>, include: string): Verdict {
  if (answer.kind === 'failed') return unknown(answer.reason);
  // RFC 7208 4.5: the version, then a space or the end.
  const records = textsOf(answer).filter((text) => /^v=spf1(?: |$)/i.test(text));
  const [record] = records;
  if (record === undefined) return { kind: 'absent', error: 'No SPF record (v=spf1) is published here' };
  if (records.length > 1) {
    return wrong(records, 'There are several SPF records; they must be merged into one (RFC 7208 4.5)');
  }
  const terms = record.toLowerCase().split(' ').slice(1);
  const all = terms.findIndex((term) => /^[+?~-]?all$/.test(term));
  // RFC 7208 5.1: what follows `all` is never looked at.
  const effective = all < 0 ? terms : terms.slice(0, all);
  // RFC 7208 5.2, 4.6.2: only the qualifier `+`, said or not, makes a match a pass.
  const isOurs = (term: string) => term.replace(/^\+/, '').replace(/\.$/, '') === `include:${include}`;
  if (!effective.some(isOurs)) {
    const misplaced = terms.some(isOurs) ? ' before "all"' : '';
    return wrong(records, `The SPF record must hold include:${include}${misplaced}`);
  }
  if (terms.filter(needsLookup).length > SPF_LOOKUP_LIMIT) {
    return wrong(records, `The SPF record needs more than ${SPF_LOOKUP_LIMIT} lookups (RFC 7208 4.6.4)`);
  }
  return { kind: 'verified', found: shown(records) };
}

function needsLookup(term: string): boolean {
  return /^[+?~-]?(?:include:|a(?:[:/]|$)|mx(?:[:/]|$)|ptr(?::|$)|exists:)|^redirect=/.test(term);
}

/** Either the CNAME we asked for, or our key in a TXT record at the same name (decisions.md 9). */
export function judgeDkim(
  alias: DnsAnswer<string>,
  text: DnsAnswer<string>,
  target: string,
  publicKey: string,
): Verdict {
  const aliases = textsOf(alias);
  if (aliases.some((name) => name.toLowerCase().replace(/\.$/, '') === target)) {
    return { kind: 'verified', found: shown(aliases) };
  }
  const texts = textsOf(text);
  const holdsKey = texts.some((record) => parseDkimKeyRecord(record)?.publicKeyBase64 === publicKey);
  if (holdsKey && texts.length === 1) return { kind: 'verified', found: shown(texts) };
  if (alias.kind === 'failed') return unknown(alias.reason);
  if (text.kind === 'failed') return unknown(text.reason);
  const found = [...aliases, ...texts];
  if (found.length === 0) return { kind: 'absent', error: 'No DKIM record is published here' };
  return wrong(
    found,
    holdsKey
      ? 'There are several TXT records here; only the DKIM key may stay (RFC 6376 3.6.2.2)'
      : `This must be a CNAME to ${target}, or a TXT record with the key of this domain`,
  );
}

export function judgeDmarc(answer: DnsAnswer<string>): Verdict {
  if (answer.kind === 'failed') return unknown(answer.reason);
  // RFC 7489 6.6.3 and 6.4: others are no DMARC records; two of them make none apply.
  const records = textsOf(answer).filter((text) => /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/.test(text));
  const [record] = records;
  if (record === undefined) return { kind: 'absent', error: 'No DMARC record (v=DMARC1) is published here' };
  if (records.length > 1) return wrong(records, 'There are several DMARC records; only one may stay');
  const policies = record.split(';').filter((tag) => /^[ \t]*p[ \t]*=/i.test(tag));
  const isPolicy = /^[ \t]*p[ \t]*=[ \t]*(?:none|quarantine|reject)[ \t]*$/i;
  if (policies.length !== 1 || !policies.every((tag) => isPolicy.test(tag))) {
    return wrong(records, 'The DMARC record must hold one p=none, p=quarantine or p=reject');
  }
  return { kind: 'verified', found: shown(records) };
}

function textsOf(answer: DnsAnswer<string>): string[] {
  return answer.kind === 'found' ? answer.records : [];
}

function unknown(reason: string): Verdict {
  return { kind: 'unknown', error: `DNS could not be asked (${reason}); the last known state is kept` };
}

function wrong(found: readonly string[], error: string): Verdict {
  return { kind: 'wrong', found: shown(found), error };
}

function shown(found: readonly string[]): string[] {
  return found.slice(0, MOST_FOUND).map((text) => text.slice(0, FOUND_LIMIT_CHARACTERS).toWellFormed());
}
