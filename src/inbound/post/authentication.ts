/** Shows the results of authentication in short. The whole results are in the Authentication-Results field. */

/** A result that is missing is never a pass. */
export type Authentication = {
  /** Result of SPF for the envelope sender. */
  spf: string;
  /** `pass` when a signature is valid; otherwise the result of the first one, or `none`. */
  dkim: string;
  dmarc: string;
  /** Domains with a valid signature. */
  dkimDomains: string[];
};

/** The part of the stored results that is shown (mail/auth/result.ts). */
type StoredResults = {
  spf?: { result?: string };
  dkim?: readonly { result?: string; domain?: string }[];
  dmarc?: { result?: string };
};

/** Returns the results of a message; `auth` is the stored JSON, null for a message that was not authenticated. */
export function readAuthentication(auth: string | null): Authentication {
  const { spf, dkim = [], dmarc } = JSON.parse(auth ?? '{}') as StoredResults;
  const passed = dkim.filter(({ result }) => result === 'pass');
  return {
    spf: spf?.result ?? 'none',
    dkim: (passed[0] ?? dkim[0])?.result ?? 'none',
    dmarc: dmarc?.result ?? 'none',
    dkimDomains: [...new Set(passed.flatMap(({ domain }) => domain ?? []))],
  };
}
