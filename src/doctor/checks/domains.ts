/**
 * Checks the records of sending domains. The check of all domains reads what the background work found last, since a large
 * installation has many; the check of one domain (`checkDomainsNamed`) asks DNS.
 */
import { checkRecords, type Verdicts } from '../../domains/check.ts';
import { RECORD_KINDS } from '../../domains/records.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';
import { type CheckedDomain, findDomainsNamed, listDomainsToReview } from '../store.ts';

const { ok, warn, fail } = findingsOf('domains');

const RECORDS = 'the owner corrects the records that "postrider domain show" lists';
const WITHOUT_PCT =
  'the owner removes pct from the DMARC record: RFC 9989 has none, and t=y says that a policy is being tested';
/** Matches the tag that RFC 9989 appendix A.6 removed. */
const PCT_TAG = /(?:^|;)[ \t]*pct[ \t]*=/i;

export const domains: Check = {
  name: 'domains',
  async run({ db }) {
    const found = await db.query(listDomainsToReview, {});
    const findings = found.flatMap(reviewStored);
    return findings.length > 0 ? findings : [ok('domains', 'the records of all verified domains are right')];
  },
};

/** Reviews what the last check of a domain found. */
function reviewStored(domain: CheckedDomain): Finding[] {
  const subject = `${domain.name} of ${domain.tenantId}`;
  const wrong = RECORD_KINDS.flatMap((kind) => {
    const { status, error } = domain.findings[kind];
    return status === 'verified' ? [] : [`${kind}: ${error ?? 'not found'}`];
  });
  if (wrong.length > 0) return [fail(subject, wrong.join('; '), RECORDS)];
  return domain.findings.DMARC.found.some((text) => PCT_TAG.test(text))
    ? [warn(subject, 'its DMARC record has pct, which receivers ignore', WITHOUT_PCT)]
    : [];
}

/** Asks DNS for the records of the domain, once for each tenant that has it. */
export async function checkDomainsNamed(context: CheckContext, name: string): Promise<Finding[]> {
  const found = await findDomainsNamed(context.db.read, name);
  const { dns, config, probeTls } = context;
  const findings = await Promise.all(
    found.map(async (domain) =>
      reviewVerdicts(
        domain,
        await checkRecords({ dns: dns.fresh, config, probeTls }, domain),
        found.length > 1,
      ),
    ),
  );
  return findings.flat();
}

function reviewVerdicts(domain: CheckedDomain, verdicts: Verdicts, isShared: boolean): Finding[] {
  const named = (record: string) => `${record} ${domain.name}${isShared ? ` of ${domain.tenantId}` : ''}`;
  const required = RECORD_KINDS.map((kind) => review(named(kind), verdicts[kind], fail));
  const { DMARC, returnPath, tracking, mx } = verdicts;
  const hasPct = DMARC.kind === 'verified' && DMARC.found.some((text) => PCT_TAG.test(text));
  return [
    ...required,
    ...(hasPct
      ? [warn(named('pct of'), 'its DMARC record has pct, which receivers ignore', WITHOUT_PCT)]
      : []),
    ...(tracking ? [review(named('TRACKING'), tracking.verdict, warn)] : []),
    // Without a return path of its own, the domain passes DMARC by DKIM alone.
    ...(returnPath ? [review(named('RETURN_PATH'), returnPath, warn)] : []),
    ...(domain.productType === 'api' ? [] : [review(named('MX'), mx, fail)]),
  ];
}

function review(subject: string, verdict: Verdicts['SPF'], report: typeof warn): Finding {
  if (verdict.kind === 'verified') return ok(subject, verdict.found.join(', '));
  if (verdict.kind === 'unknown') return warn(subject, verdict.error, 'try again later');
  const found = verdict.found.length > 0 ? ` (found: ${verdict.found.join(', ')})` : '';
  return report(subject, `${verdict.error}${found}`, RECORDS);
}
