/** Sessions as reports about TLS count them (RFC 8460): by the policy that they were opened by, and by their failure. */

/** The policy that sessions were opened by, as a report has it (RFC 8460 section 4.4). */
export type ReportedPolicy = {
  type: 'tlsa' | 'sts' | 'no-policy-found';
  /** TLSA records, or lines of the policy of MTA-STS. Empty without a policy. */
  lines: readonly string[];
  /** Patterns of the MX hosts of a policy of MTA-STS. */
  mx: readonly string[];
};

/** The failures of sessions that did not meet the policy (RFC 8460 section 4.4). */
export type ReportedFailure = {
  /** A result type of RFC 8460 section 4.3. */
  type: string;
  /** Host with which the session failed, and its address; null when no session was opened. */
  host: string | null;
  address: string | null;
  /** Address that the session left from; null when it is not known. Counts of earlier versions have none. */
  from?: string | null;
  /** A few words that say more. */
  reason: string;
};

/** The reason of failures that are summed without their details. */
const SUMMED = 'further failures of this kind, summed without their details';

/**
 * Returns the result that stands for all results of its kind when there are too many different ones: the types of the policy and of the
 * failure stay, so that a report still counts every session.
 */
export function summaryOf({ policy, failure }: { policy: ReportedPolicy; failure: ReportedFailure | null }): {
  policy: ReportedPolicy;
  failure: ReportedFailure | null;
} {
  const blank = { host: null, address: null, from: null, reason: SUMMED };
  return {
    policy: { type: policy.type, lines: [], mx: [] },
    failure: failure && { type: failure.type, ...blank },
  };
}
