/**
 * DMARC (RFC 9989, with its tree walk) by mailauth, from our own results of SPF and DKIM. A result that is not known yet
 * is never a failure: when a `temperror` of SPF or DKIM might have made the message pass, DMARC is `temperror` too.
 */
import type { DMARCResult, DNSResolver } from 'mailauth';
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js';
import type { DmarcOutcome, DmarcPolicy, FromOutcome, SpfOutcome } from './result.ts';

type Evidence = {
  from: FromOutcome;
  spf: SpfOutcome;
  dkim: readonly { result: string; domain: string }[];
};

type DmarcEvaluation = {
  outcome: DmarcOutcome;
  /** Returns true when a domain that signed is aligned with the author's. */
  isAligned(domain: string): boolean;
  /** The result of the library, which BIMI reads. */
  details: DMARCResult | undefined;
};

const POLICIES: readonly DmarcPolicy[] = ['none', 'quarantine', 'reject'];

/** Evaluates DMARC. It never rejects. */
export async function checkDmarc(resolver: DNSResolver, evidence: Evidence): Promise<DmarcEvaluation> {
  const { from } = evidence;
  const [address, ...others] = from.addresses;
  if (address === undefined || others.length > 0 || from.fields !== 1)
    return unevaluated('permerror', 'From has not exactly one address');
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  try {
    const known = await evaluate(resolver, evidence, ['pass']);
    if (!known.details) return unevaluated('temperror', 'there is no result');
    const { policyDomain, alignment } = known.details;
    const found = policyDomain
      ? {
          policyDomain: policyDomain.toLowerCase(),
          isSpfAligned: Boolean(alignment?.spf?.result),
          ...(isTest(known.details) && { isTest: true }),
        }
      : {};
    const outcome: DmarcOutcome = { ...outcomeOf(known.details), domain, ...found };
    const isUndecided = outcome.result === 'fail' && (await mightPass(resolver, evidence));
    return {
      ...known,
      // The library compares no domains when there is no policy. A signature of the author's own domain is aligned in every
      // mode (RFC 9989).
      isAligned: (signer) => signer === domain || known.isAligned(signer),
      outcome: isUndecided
        ? { ...outcome, result: 'temperror', reason: 'SPF or DKIM could not be checked' }
        : outcome,
    };
  } catch (error) {
    return unevaluated('temperror', String(error));
  }
}

function unevaluated(result: 'permerror' | 'temperror', reason: string): DmarcEvaluation {
  const outcome: DmarcOutcome = { result, policy: undefined, domain: '', reason };
  return { outcome, isAligned: () => false, details: undefined };
}

/** Evaluates the identities whose result is one of `results`. */
async function evaluate(
  resolver: DNSResolver,
  { from, spf, dkim }: Evidence,
  results: readonly string[],
): Promise<Pick<DmarcEvaluation, 'isAligned' | 'details'>> {
  const { response, dkimAligned } = await evaluateDmarc({
    headerFrom: [...from.addresses],
    fromFields: from.fields,
    spfDomains: results.includes(spf.result) ? [spf.domain] : [],
    dkimDomains: dkim.filter(({ result }) => results.includes(result)).map(({ domain }) => ({ domain })),
    resolver,
    strict: true,
  });
  return {
    details: response || undefined,
    isAligned: (domain) => dkimAligned?.has(domain) ?? false,
  };
}

async function mightPass(resolver: DNSResolver, evidence: Evidence): Promise<boolean> {
  const { spf, dkim } = evidence;
  if (![spf, ...dkim].some(({ result }) => result === 'temperror')) return false;
  const { details } = await evaluate(resolver, evidence, ['pass', 'temperror']);
  return details?.status.result !== 'fail';
}

/** A policy of none has no weaker one. */
function isTest({ testMode, p, sp, np }: DMARCResult): boolean {
  return testMode === true && [p, sp, np].some((policy) => policy === 'quarantine' || policy === 'reject');
}

function outcomeOf(details: DMARCResult): Omit<DmarcOutcome, 'domain'> {
  const policy = POLICIES.find((known) => known === details.policy);
  switch (details.status.result) {
    case 'pass':
      return { result: 'pass', policy, reason: '' };
    case 'none':
      return { result: 'none', policy: undefined, reason: '' };
    case 'fail':
      return { result: 'fail', policy, reason: 'neither SPF nor DKIM passes for the domain of the author' };
    default:
      return { result: 'temperror', policy, reason: 'the policy could not be looked up' };
  }
}
