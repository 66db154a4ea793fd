/**
 * Asks a question until a server answers it: each server in order, twice. Only an answer about the name counts; a
 * server that refuses, fails or sends a referral is skipped. Equal concurrent questions share one query, also because
 * many identical queries would give a forger many guesses (RFC 5452 section 5). Background questions use at most half
 * of the slots, so that deliveries never wait for them alone.
 */
import type { Clock } from '../clock.ts';
import { ConcurrencyLimiter } from '../concurrency-limiter.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import type { Question, Response } from './message.ts';
import type { Servers } from './servers.ts';

/** Asks one question. It never rejects. */
export type Ask = (question: Question) => Promise<ExchangeOutcome>;

/** The class of a question. No mail waits for `background` questions, such as those about the records of a domain. */
export type Priority = 'delivery' | 'background';

type AskWithPriority = (question: Question, priority?: Priority) => Promise<ExchangeOutcome>;

/** Maximum time for which one server is waited for, in milliseconds. */
const SERVER_TIMEOUT_MS = 5_000;
/** Number of times that each server is asked. */
const ROUNDS = 2;
/** Maximum number of concurrent questions; the others wait. */
export const MAX_QUESTIONS = 128;
/** Maximum number of these that are background questions. */
const MAX_BACKGROUND_QUESTIONS = MAX_QUESTIONS / 2;
/**
 * Maximum number of waiting questions. Each caller waits for its own question, so this is reached only when no server
 * answers and thousands of callers continue to ask.
 */
const MAX_WAITING = 10_000;

/** Returns the function that asks questions of the given servers. Its promise never rejects. */
export function createAsk(clock: Clock, servers: Servers): AskWithPriority {
  const underWay = new Map<string, Promise<ExchangeOutcome>>();
  const all = new ConcurrencyLimiter({ maxRunning: MAX_QUESTIONS, maxWaiting: MAX_WAITING });
  const background = new ConcurrencyLimiter({
    maxRunning: MAX_BACKGROUND_QUESTIONS,
    maxWaiting: MAX_WAITING,
  });

  async function askWithLimit(question: Question, priority: Priority): Promise<ExchangeOutcome> {
    const ask = async () => all.tryRun(() => askServers(clock, servers, question));
    const outcome = await (priority === 'background' ? background.tryRun(ask) : ask());
    return outcome ?? { kind: 'failed', reason: 'too many questions' };
  }

  return (question, priority = 'delivery') => {
    // Deliveries have a key of their own: they never wait for an equal question that is still queued as background
    // work.
    const key = `${priority} ${question.type} ${question.name}`;
    const same = underWay.get(key);
    if (same !== undefined) return same;
    const answer = askWithLimit(question, priority).finally(() => underWay.delete(key));
    underWay.set(key, answer);
    return answer;
  };
}

async function askServers(clock: Clock, servers: Servers, question: Question): Promise<ExchangeOutcome> {
  let reason = 'no resolver is configured';
  for (let round = 0; round < ROUNDS; round++) {
    for (const server of servers.inOrder()) {
      const outcome = await exchange(clock, { server, question, timeoutMs: SERVER_TIMEOUT_MS });
      const failure = outcome.kind === 'failed' ? outcome.reason : whyNoAnswer(outcome.response);
      if (failure === undefined) return servers.areTrusted() ? outcome : unproven(outcome);
      reason = failure;
      if (failure === 'ETIMEOUT') servers.putLast(server);
    }
  }
  return { kind: 'failed', reason };
}

/** Returns the outcome without the claim of the server that it has validated the answer. */
function unproven(outcome: ExchangeOutcome): ExchangeOutcome {
  if (outcome.kind === 'failed' || !outcome.response.isAuthentic) return outcome;
  return { kind: 'response', response: { ...outcome.response, isAuthentic: false } };
}

const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
/** Names of response codes (RFC 1035 section 4.1.1), as c-ares spells them. */
const FAILURES: Readonly<Record<number, string>> = {
  1: 'EFORMERR',
  2: 'ESERVFAIL',
  4: 'ENOTIMP',
  5: 'EREFUSED',
};

function whyNoAnswer({ code, answers, authorities }: Response): string | undefined {
  if (code === NO_SUCH_NAME) return undefined;
  if (code !== NO_ERROR) return FAILURES[code] ?? `ERCODE${code}`;
  // Name servers without an SOA are a referral (RFC 2308 section 2.2). The asked server does not resolve names; the
  // name may exist.
  const types = new Set(authorities.map(({ data }) => data.type));
  return answers.length === 0 && types.has('NS') && !types.has('SOA') ? 'EREFERRAL' : undefined;
}
