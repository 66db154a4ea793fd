/**
 * Sessions that wait to be written for reports about TLS (session-counts.ts). Their results are held within a bound of memory, however
 * many domains and kinds of failures there are: results beyond it are summed without their details.
 */
import { type ReportedFailure, type ReportedPolicy, summaryOf } from '../mail/tls-policy/reported-session.ts';
import { MAX_RESULTS, type TlsResult } from './store.ts';

/**
 * Maximum number of characters that all results have together, in each thread that opens sessions. They take 8 MiB, or 16 MiB if all of
 * them are two bytes long. There is room for about 6,000 domains without details. Our own limit.
 */
export const MAX_CHARACTERS = 8 * 1024 ** 2;
/** Number of characters up to which results have their details. */
const MAX_DETAILED_CHARACTERS = MAX_CHARACTERS / 2;
/** Characters that an entry of a map counts as, besides its text. */
const CHARACTERS_PER_ENTRY = 128;
/** Maximum length of a policy as a report has it. A longer one is reported without its text, so that policies take a bounded space. */
const MAX_POLICY = 8_192;
/** Maximum length of a failure's reason. */
const MAX_REASON = 200;

/** A session with a host of a domain. `day` is its begin in Unix milliseconds; `failure` is null when the session met the policy. */
export type ReportedResult = {
  day: number;
  domain: string;
  policy: ReportedPolicy;
  failure: ReportedFailure | null;
};

/** The numbers of sessions of a domain on a day, by the texts of their policies and failures. */
type DayOfDomain = {
  day: number;
  domain: string;
  policies: Map<string, Map<string, number>>;
  results: number;
  characters: number;
};

export class PendingSessions {
  readonly #days = new Map<string, DayOfDomain>();
  #characters = 0;

  /** Number of characters of all results. */
  get characters(): number {
    return this.#characters;
  }

  /** The days of domains of which sessions wait, as `take` wants them. */
  get days(): { key: string; domain: string }[] {
    return [...this.#days].map(([key, { domain }]) => ({ key, domain }));
  }

  /** Counts a session. Returns false when there is no room even for a result without details. */
  count(result: ReportedResult): boolean {
    if (this.#add(result, { maxCharacters: MAX_DETAILED_CHARACTERS, maxResults: MAX_RESULTS })) return true;
    const summary = { ...result, ...summaryOf(result) };
    return this.#add(summary, { maxCharacters: MAX_CHARACTERS, maxResults: Number.POSITIVE_INFINITY });
  }

  /** Removes and returns the sessions of a domain on a day. */
  take(key: string): TlsResult[] {
    const known = this.#days.get(key);
    if (!known) return [];
    this.#days.delete(key);
    this.#characters -= known.characters;
    const { day, domain, policies } = known;
    return [...policies].flatMap(([policy, failures]) =>
      [...failures].map(([failure, sessions]) => ({ day, domain, policy, failure, sessions })),
    );
  }

  #add(
    { day, domain, ...result }: ReportedResult,
    { maxCharacters, maxResults }: { maxCharacters: number; maxResults: number },
  ): boolean {
    const key = `${day} ${domain}`;
    const [policy, failure] = [textOfPolicy(result.policy), textOfFailure(result.failure)];
    const known = this.#days.get(key);
    const failures = known?.policies.get(policy);
    const sessions = failures?.get(failure);
    if (sessions === undefined) {
      let characters = CHARACTERS_PER_ENTRY + failure.length;
      if (!failures) characters += CHARACTERS_PER_ENTRY + policy.length;
      if (!known) characters += CHARACTERS_PER_ENTRY + key.length + domain.length;
      if (this.#characters + characters > maxCharacters || (known?.results ?? 0) >= maxResults) return false;
      const added = known ?? { day, domain, policies: new Map(), results: 0, characters: 0 };
      added.results++;
      added.characters += characters;
      this.#characters += characters;
      this.#days.set(key, added);
      added.policies.set(policy, failures ?? new Map());
    }
    this.#days
      .get(key)
      ?.policies.get(policy)
      ?.set(failure, (sessions ?? 0) + 1);
    return true;
  }
}

function textOfPolicy(policy: ReportedPolicy): string {
  const text = JSON.stringify(policy);
  return text.length <= MAX_POLICY ? text : JSON.stringify({ ...policy, lines: [], mx: [] });
}

function textOfFailure(failure: ReportedFailure | null): string {
  return failure ? JSON.stringify({ ...failure, reason: failure.reason.slice(0, MAX_REASON) }) : '';
}
