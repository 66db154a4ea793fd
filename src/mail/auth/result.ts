/**
 * The results of authenticating one message: what SPF, DKIM, DMARC and ARC say about it, and whether the name of the
 * client is confirmed by DNS. A result that could not be found out is `temperror`; nothing is `pass` by default.
 */

/** Results of SPF (RFC 7208 section 2.6). */
export type SpfResult = 'none' | 'neutral' | 'pass' | 'fail' | 'softfail' | 'temperror' | 'permerror';

export type SpfOutcome = {
  result: SpfResult;
  /** Domain that was checked, in lower case. It is empty when the identity has none. */
  domain: string;
  /** Why the result is not `pass`, for people. It may contain text of third parties. */
  reason: string;
};

/** Results of one signature (RFC 8601 section 2.7.1). */
type DkimResult = 'pass' | 'fail' | 'neutral' | 'policy' | 'temperror' | 'permerror';

export type DkimOutcome = {
  result: DkimResult;
  /** Domain that signed (`d=`), in lower case. It is empty when the signature names none that is valid. */
  domain: string;
  selector: string;
  /** Algorithm of the signature, such as `rsa-sha256`. */
  algorithm: string;
  reason: string;
  /** True when the signature passed and its domain is aligned with the author's (RFC 9989). */
  isAligned: boolean;
};

export type DmarcPolicy = 'none' | 'quarantine' | 'reject';

export type DmarcOutcome = {
  result: 'pass' | 'fail' | 'none' | 'temperror' | 'permerror';
  /** The treatment that the author's domain asks for when the result is `fail`; undefined when that is not known. */
  policy: DmarcPolicy | undefined;
  /** Domain of the author's address, in lower case. */
  domain: string;
  /** Domain whose record holds the policy, in lower case. Absent when there is none. */
  policyDomain?: string;
  /** True when SPF has passed for a domain that is aligned with the author's (RFC 9989). */
  isSpfAligned?: boolean;
  /** True when the record asks for a weaker treatment than its policy, because the policy is being tested (RFC 9989 section 4.7). */
  isTest?: boolean;
  reason: string;
};

export type ArcOutcome = {
  result: 'none' | 'pass' | 'fail';
  /** The sets of the chain, the oldest first. The list is empty unless the chain passes. */
  sets: readonly ArcSet[];
  reason: string;
};

/** One set of an ARC chain: who sealed it, and what the sealer says about DMARC. */
export type ArcSet = {
  /** Domain that sealed the set, in lower case. */
  sealer: string;
  /** Result of DMARC that the sealer has reported, such as `pass`; empty when it has reported none. */
  dmarc: string;
  /** Domain of the author to which that result belongs, in lower case. */
  authorDomain: string;
};

export type ReverseDnsOutcome = {
  /** `pass` when a name of the address leads back to it. `none` when the address has no name. */
  result: 'pass' | 'fail' | 'temperror' | 'none';
  /** The confirmed name, or the first one that is not confirmed. */
  name: string | undefined;
};

export type BimiOutcome = {
  result: 'pass' | 'none' | 'fail' | 'skipped' | 'temperror';
  /** URL of the logo, when the result is `pass`. */
  location: string | undefined;
  /** URL of the certificate of the logo, when there is one. It has not been checked. */
  authority: string | undefined;
};

/** The author of the message. Exactly one field with exactly one address is acceptable. */
export type FromOutcome = {
  addresses: readonly string[];
  /** Number of From fields. */
  fields: number;
  /** Set when there is no address that any reader could find, as in the bounces of some servers: `From: MAILER-DAEMON`. */
  isNameless?: true;
};

export type AuthenticationResult = {
  /** Address of the client that SPF and `reverseDns` evaluate: the client's own, or the one that sent to a trusted relay. */
  address: string;
  spf: SpfOutcome;
  heloSpf: SpfOutcome;
  /** The signatures in the order of their fields, up to a limit. */
  dkim: readonly DkimOutcome[];
  dmarc: DmarcOutcome;
  arc: ArcOutcome;
  bimi: BimiOutcome;
  reverseDns: ReverseDnsOutcome;
  from: FromOutcome;
};

/** Returns the result of a message that could not be authenticated, for instance because its time is over. */
export function undecided(address: string, reason: string): AuthenticationResult {
  const spf: SpfOutcome = { result: 'temperror', domain: '', reason };
  return {
    address,
    spf,
    heloSpf: spf,
    dkim: [],
    dmarc: { result: 'temperror', policy: undefined, domain: '', reason },
    arc: { result: 'none', sets: [], reason },
    bimi: { result: 'temperror', location: undefined, authority: undefined },
    reverseDns: { result: 'temperror', name: undefined },
    from: { addresses: [], fields: 0 },
  };
}
