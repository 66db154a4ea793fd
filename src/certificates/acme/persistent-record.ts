/**
 * Proof by a record that stays in DNS and names the account (draft-ietf-acme-dns-persist-01). The operator publishes it
 * once, and no answer has to be given at the time of an order.
 */
import type { DnsLookups } from '../../system/dns.ts';
import type { Solver } from './solver.ts';

/** Returns the name of the record for a host name. */
export function persistentRecordName(name: string): string {
  return `_validation-persist.${name}`;
}

/** Returns the value of the record: the form of a CAA value (RFC 8659 section 4.2) with the account (RFC 8657 section 3). */
export function issueValue(issuer: string, accountUrl: string): string {
  return `${issuer}; accounturi=${accountUrl}`;
}

const NOTHING: Disposable = { [Symbol.dispose]() {} };

/** Returns the solver that needs the record to be there. Without it, another way is chosen. */
export function createPersistentRecordSolver(dns: Pick<DnsLookups, 'txt'>, clock: { now(): number }): Solver {
  async function isPublished(name: string, expected: Omit<Expected, 'now'>): Promise<boolean> {
    const answer = await dns.txt(persistentRecordName(name));
    const texts = answer.kind === 'found' ? answer.records : [];
    return texts.some((text) => allows(text, { ...expected, now: clock.now() }));
  }

  return {
    type: 'dns-persist-01',
    async findObstacle(name, { accountUrl }) {
      const isThere = await isPublished(name, { issuers: undefined, accountUrl });
      return isThere ? undefined : `DNS has no ${persistentRecordName(name)} with this account`;
    },
    async offer({ name, challenge: { issuers }, accountUrl }) {
      return (await isPublished(name, { issuers, accountUrl })) ? NOTHING : undefined;
    },
  };
}

/** Every authority is meant while `issuers` is undefined: an order names those it is for. */
type Expected = { issuers: readonly string[] | undefined; accountUrl: string; now: number };

const MS_PER_SECOND = 1_000;

/** Returns true when a record names one of these authorities and the account, and has not ended. Unknown parameters are ignored. */
function allows(text: string, { issuers, accountUrl, now }: Expected): boolean {
  const [issuer = '', ...parameters] = text.split(';').map((part) => part.trim());
  const parameter = (key: string) =>
    parameters.find((one) => one.toLowerCase().startsWith(`${key.toLowerCase()}=`))?.slice(key.length + 1);
  const until = parameter('persistUntil');
  return (
    (issuers?.some((one) => one.toLowerCase() === issuer.toLowerCase()) ?? true) &&
    parameter('accounturi') === accountUrl &&
    (until === undefined || Number(until) * MS_PER_SECOND > now)
  );
}
