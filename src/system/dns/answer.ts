/** Interprets answers: follows aliases to the records, and classifies an answer without records. */
import type { Ask } from './ask.ts';
import type { Question, RecordData, ResourceRecord, Response } from './message.ts';

/** How an answer was reached. What does not hold is absent. */
export type Proof = {
  /** A trusted resolver has validated the answer, with every alias that led to it. */
  isSecure?: true;
  /** Name at the end of the aliases, when there were any. */
  aliasTarget?: string;
};

/** The result of a question. `ttlMs` is the time for which it may be cached; 0 means not at all. */
export type Finding =
  | ({ kind: 'found'; records: RecordData[]; ttlMs: number } & Proof)
  /** The name exists, but has no records of this type. */
  | ({ kind: 'no-data'; ttlMs: number } & Proof)
  /** The name, or the one its aliases lead to, does not exist. */
  | ({ kind: 'no-name'; ttlMs: number } & Proof)
  | { kind: 'failed'; reason: string };

/** Maximum number of aliases that are followed, the same number as common resolvers. */
const MAX_ALIAS_CHAIN = 16;
/**
 * Maximum TTL that is used. Records rarely stay valid longer than two days, and RFC 8767 section 4 allows any cap up
 * to a week.
 */
const MAX_TTL_SECONDS = 86_400;
/**
 * Maximum TTL of a negative answer. It is far below the hours of RFC 2308 section 5, so that a record that is published
 * after the first lookup is seen soon.
 */
const MAX_NEGATIVE_TTL_SECONDS = 300;
const NO_SUCH_NAME = 3;

/** Resolves a question, following aliases. It never rejects. */
export async function resolve(ask: Ask, question: Question): Promise<Finding> {
  const chain: ResourceRecord[] = [];
  let isSecure = true;
  for (let name = question.name; ; ) {
    const outcome = await ask({ name, type: question.type });
    if (outcome.kind === 'failed') return outcome;
    isSecure &&= outcome.response.isAuthentic;
    const step = follow(outcome.response, { name, type: question.type }, chain);
    if (step.kind === 'failed') return step;
    if (step.kind !== 'alias') return { ...step, ...proofOf(chain, isSecure) };
    name = step.target;
  }
}

function proofOf(chain: readonly ResourceRecord[], isSecure: boolean): Proof {
  const alias = chain.at(-1)?.data;
  return {
    ...(isSecure && { isSecure }),
    ...(alias?.type === 'CNAME' && { aliasTarget: alias.target }),
  };
}

type Step = Finding | { kind: 'alias'; target: string };

/**
 * Follows the aliases in one response and adds them to `chain`. Returns `alias` when the response does not contain
 * the target's records.
 */
function follow(response: Response, { name: asked, type }: Question, chain: ResourceRecord[]): Step {
  for (let name = asked; ; ) {
    const here = response.answers.filter(({ owner }) => owner === name);
    const found = here.filter(({ data }) => data.type === type);
    if (found.length > 0) {
      const ttlMs = minTtlMs([...chain, ...found], MAX_TTL_SECONDS);
      return { kind: 'found', records: found.map(({ data }) => data), ttlMs };
    }
    const alias = here.find(({ data }) => data.type === 'CNAME');
    if (alias?.data.type !== 'CNAME') {
      const ended = name === asked || response.code === NO_SUCH_NAME || soaOf(response) !== undefined;
      return ended ? nothing(response, chain) : { kind: 'alias', target: name };
    }
    chain.push(alias);
    // The limit also ends a loop of aliases.
    if (chain.length > MAX_ALIAS_CHAIN) return { kind: 'failed', reason: 'too many aliases' };
    name = alias.data.target;
  }
}

/**
 * Classifies an answer without records. The response code describes the name at the end of the alias chain (RFC 2308
 * sections 2.1 and 2.2).
 */
function nothing(response: Response, chain: readonly ResourceRecord[]): Finding {
  const kind = response.code === NO_SUCH_NAME ? 'no-name' : 'no-data';
  const soa = soaOf(response);
  // A negative answer without an SOA should not be cached (RFC 2308 section 5).
  if (soa === undefined) return { kind, ttlMs: 0 };
  const maxSeconds = Math.min(soa.minimumSeconds, MAX_NEGATIVE_TTL_SECONDS);
  return { kind, ttlMs: minTtlMs([...chain, soa.record], maxSeconds) };
}

function soaOf({ authorities }: Response) {
  for (const record of authorities) {
    if (record.data.type === 'SOA') return { record, minimumSeconds: record.data.minimumSeconds };
  }
  return undefined;
}

/** Returns the smallest TTL of the records: it counts where the TTLs of a set differ (RFC 2181 section 5.2). */
function minTtlMs(records: readonly ResourceRecord[], maxSeconds: number): number {
  return Math.min(maxSeconds, ...records.map(({ ttlSeconds }) => ttlSeconds)) * 1_000;
}
