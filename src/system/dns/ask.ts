/**
 * A question, asked until a server has answered it: the servers in turn, twice over. Only answers that speak of the
 * name count; a server that refuses, fails or knows no more than where to ask is passed by. Equal questions at the same
 * time are one, also because many of them would give a forger many tries (RFC 5452 5). Background questions have half of
 * the slots, so that the questions of a delivery never wait for them alone.
 */
import type { Clock } from '../clock.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import { QuestionLimiter } from './limiter.ts';
import type { Question, Response } from './message.ts';
import type { Servers } from './servers.ts';

export type Ask = (question: Question) => Promise<ExchangeOutcome>;

/** `background`: questions that nobody's mail waits for, such as those about the records of a domain. */
export type Priority = 'delivery' | 'background';

export type AskWithPriority = (question: Question, priority?: Priority) => Promise<ExchangeOutcome>;

/** engine.md 4. */
const SERVER_TIMEOUT_MS = 5_000;
/** engine.md 4: each server is asked this often. */
const ROUNDS = 2;
/** Maximum number of questions asked at the same time; the others wait (engine.md 4). */
const MAX_ASKED = 128;
/** Maximum number of these that are background questions. */
const MAX_ASKED_IN_BACKGROUND = MAX_ASKED / 2;
/** Maximum number of waiting questions. Each asker waits for its own, so this is reached only when no server answers and
 * thousands ask on. */
const MAX_WAITING = 10_000;

/** The answer never rejects. */
export function createAsk(clock: Clock, servers: Servers): AskWithPriority {
  const underWay = new Map<string, Promise<ExchangeOutcome>>();
  const all = new QuestionLimiter({ maxRunning: MAX_ASKED, maxWaiting: MAX_WAITING });
  const background = new QuestionLimiter({ maxRunning: MAX_ASKED_IN_BACKGROUND, maxWaiting: MAX_WAITING });

  async function askInTurn(question: Question, priority: Priority): Promise<ExchangeOutcome> {
    const ask = () => all.run(() => askServers(clock, servers, question));
    const outcome = await (priority === 'background' ? background.run(ask) : ask());
    return outcome ?? { kind: 'failed', reason: 'too many questions' };
  }

  return (question, priority = 'delivery') => {
    // A delivery never waits for an equal question that still waits in the background.
    const key = `${priority} ${question.type} ${question.name}`;
    const same = underWay.get(key);
    if (same !== undefined) return same;
    const answer = askInTurn(question, priority).finally(() => underWay.delete(key));
    underWay.set(key, answer);
    return answer;
  };
}

async function askServers(clock: Clock, servers: Servers, question: Question): Promise<ExchangeOutcome> {
  let reason = 'no resolver is configured';
  for (let round = 0; round < ROUNDS; round++) {
    for (const server of servers.inOrder()) {
      const outcome = await exchange(clock, server, question, SERVER_TIMEOUT_MS);
      const failure = outcome.kind === 'failed' ? outcome.reason : whyNoAnswer(outcome.response);
      if (failure === undefined) return outcome;
      reason = failure;
      if (failure === 'ETIMEOUT') servers.putLast(server);
    }
  }
  return { kind: 'failed', reason };
}

const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
/** RFC 1035 4.1.1, in the words of c-ares. */
const FAILURES: Readonly<Record<number, string>> = {
  1: 'EFORMERR',
  2: 'ESERVFAIL',
  4: 'ENOTIMP',
  5: 'EREFUSED',
};

function whyNoAnswer({ code, answers, authorities }: Response): string | undefined {
  if (code === NO_SUCH_NAME) return undefined;
  if (code !== NO_ERROR) return FAILURES[code] ?? `ERCODE${code}`;
  // RFC 2308 2.2: name servers without an SOA are a referral. The one asked does not resolve; the name may well exist.
  const types = new Set(authorities.map(({ data }) => data.type));
  return answers.length === 0 && types.has('NS') && !types.has('SOA') ? 'EREFERRAL' : undefined;
}
