/**
 * A question, asked until a server has answered it: the servers in turn, twice over. Only answers that speak of the
 * name count; a server that refuses, fails or knows no more than where to ask is passed by. Equal questions at the same
 * time are one, also because many of them would give a forger many tries (RFC 5452 5).
 */
import type { Clock } from '../clock.ts';
import { type ExchangeOutcome, exchange } from './exchange.ts';
import type { Question, Response } from './message.ts';
import type { Servers } from './servers.ts';

export type Ask = (question: Question) => Promise<ExchangeOutcome>;

/** engine.md 4. */
const SERVER_TIMEOUT_MS = 5_000;
/** engine.md 4: each server is asked this often. */
const ROUNDS = 2;
/** engine.md 4: questions asked at the same time; the others wait. */
const MOST_ASKED = 128;
/** Waiting questions. Each asker waits for its own, so this is met only when no server answers and thousands ask on. */
const MOST_WAITING = 10_000;

/** The answer never rejects. */
export function createAsk(clock: Clock, servers: Servers): Ask {
  const underWay = new Map<string, Promise<ExchangeOutcome>>();
  const waiting: (() => void)[] = [];
  let asked = 0;

  async function inTurn(question: Question): Promise<ExchangeOutcome> {
    if (asked >= MOST_ASKED) {
      if (waiting.length >= MOST_WAITING) return { kind: 'failed', reason: 'too many questions' };
      await new Promise<void>((go) => waiting.push(go));
    } else {
      asked += 1;
    }
    try {
      return await askServers(clock, servers, question);
    } finally {
      // The place goes to the next in line, if there is one.
      const next = waiting.shift();
      if (next) next();
      else asked -= 1;
    }
  }

  return (question) => {
    const key = `${question.type} ${question.name}`;
    const same = underWay.get(key);
    if (same !== undefined) return same;
    const answer = inTurn(question).finally(() => underWay.delete(key));
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
