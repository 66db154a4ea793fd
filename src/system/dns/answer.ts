/** What an answer means: aliases followed to the records, and which kind of nothing it is when there are none. */
import type { Ask } from './ask.ts';
import type { Question, RecordData, ResourceRecord, Response } from './message.ts';

/** `ttlMs`: how long it may be kept; 0 is not at all. */
export type Finding =
  | { kind: 'found'; records: RecordData[]; ttlMs: number }
  /** The name exists, but has no records of this type. */
  | { kind: 'no-data'; ttlMs: number }
  /** The name, or the one its aliases lead to, does not exist. */
  | { kind: 'no-name'; ttlMs: number }
  | { kind: 'failed'; reason: string };

/** As many as common resolvers follow. */
const MAX_ALIAS_CHAIN = 16;
/** Records change hands within a day or two at most; RFC 8767 4 lets any cap be chosen up to a week. */
const MAX_TTL_SECONDS = 86_400;
/** engine.md 4: far below the hours of RFC 2308 5, so that what is published after it was asked for is seen soon. */
const MAX_NEGATIVE_TTL_SECONDS = 300;
const NO_SUCH_NAME = 3;

/** Never rejects. */
export async function resolve(ask: Ask, question: Question): Promise<Finding> {
  const chain: ResourceRecord[] = [];
  for (let name = question.name; ; ) {
    const outcome = await ask({ name, type: question.type });
    if (outcome.kind === 'failed') return outcome;
    const step = follow(outcome.response, { name, type: question.type }, chain);
    if (step.kind !== 'alias') return step;
    name = step.target;
  }
}

type Step = Finding | { kind: 'alias'; target: string };

/** Follows the aliases in one response and adds them to `chain`; `alias` when they lead out of it. */
function follow(response: Response, { name: asked, type }: Question, chain: ResourceRecord[]): Step {
  for (let name = asked; ; ) {
    const here = response.answers.filter(({ owner }) => owner === name);
    const found = here.filter(({ data }) => data.type === type);
    if (found.length > 0) {
      const ttlMs = leastTtlMs([...chain, ...found], MAX_TTL_SECONDS);
      return { kind: 'found', records: found.map(({ data }) => data), ttlMs };
    }
    const alias = here.find(({ data }) => data.type === 'CNAME');
    if (alias?.data.type !== 'CNAME') {
      const ended = name === asked || response.code === NO_SUCH_NAME || soaOf(response) !== undefined;
      return ended ? nothing(response, chain) : { kind: 'alias', target: name };
    }
    chain.push(alias);
    // Also ends those that go round in a circle.
    if (chain.length > MAX_ALIAS_CHAIN) return { kind: 'failed', reason: 'too many aliases' };
    name = alias.data.target;
  }
}

/** RFC 2308 2.1, 2.2: the code speaks of the name at the end of the chain. */
function nothing(response: Response, chain: readonly ResourceRecord[]): Finding {
  const kind = response.code === NO_SUCH_NAME ? 'no-name' : 'no-data';
  const soa = soaOf(response);
  // RFC 2308 5: without an SOA it should not be kept.
  if (soa === undefined) return { kind, ttlMs: 0 };
  const longest = Math.min(soa.minimumSeconds, MAX_NEGATIVE_TTL_SECONDS);
  return { kind, ttlMs: leastTtlMs([...chain, soa.record], longest) };
}

function soaOf({ authorities }: Response) {
  for (const record of authorities) {
    if (record.data.type === 'SOA') return { record, minimumSeconds: record.data.minimumSeconds };
  }
  return undefined;
}

/** RFC 2181 5.2: where the TTLs of a set differ, the least one counts. */
function leastTtlMs(records: readonly ResourceRecord[], longestSeconds: number): number {
  return Math.min(longestSeconds, ...records.map(({ ttlSeconds }) => ttlSeconds)) * 1_000;
}
