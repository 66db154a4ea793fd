/** Several delivery threads as one: what is asked of all of them, and what they answer together. Each site belongs to one of them (share.ts). */
import type { Traces } from '../conversation/trace.ts';
import { keptTogether } from '../shaping/kept-mail.ts';
import type { Sites } from '../shaping/site-calls.ts';
import type { ExplainWaiting } from '../waiting.ts';

/** Returns the sites of all threads. */
export function sitesTogether(all: readonly Sites[]): Sites {
  const ask = async <Answer>(request: (sites: Sites) => Promise<readonly Answer[]>) =>
    (await Promise.all(all.map(request))).flat();
  return {
    listKept: async () => keptTogether(await Promise.all(all.map((sites) => sites.listKept()))),
    explainSites: (named) => ask((sites) => sites.explainSites(named)),
    disconnect: (request) => ask((sites) => sites.disconnect(request)),
    liftRests: (request) => ask((sites) => sites.liftRests(request)),
    forgetLearned: (named) => ask((sites) => sites.forgetLearned(named)),
  };
}

/** Returns the function that asks all threads what mail waits for. */
export function waitsTogether(all: readonly ExplainWaiting[]): ExplainWaiting {
  return async (queues) => {
    const answers = await Promise.all(all.map((explain) => explain(queues)));
    return new Map(answers.flatMap((waits) => [...waits]));
  };
}

/** Returns the traces of all threads. A watch that is dropped in one of them has ended in all. */
export function tracesTogether(all: readonly Traces[]): Traces {
  return {
    watch(site, tell, onDropped) {
      const ends: (() => void)[] = [];
      const end = () => {
        for (const one of ends.splice(0)) one();
      };
      const drop = () => {
        if (ends.length === 0) return;
        end();
        onDropped();
      };
      ends.push(...all.map((traces) => traces.watch(site, tell, drop)));
      return end;
    },
  };
}
