/** A source that is warmed up makes no more first attempts on a day than its curve allows. */
import { WALL_START_MS } from '../simulation.ts';
import type { MakeCheck } from './check.ts';

const DAY_MS = 86_400_000;
/** First attempts of the first day of the curve. */
const CAP = 20;
const RCPT = /^RCPT TO:<([^>]+)>/;

export const checkWarmUps: MakeCheck = ({ policies: { sources }, faults }, fail) => {
  const cold = new Set(sources.filter(({ isCold }) => isCold).map(({ address }) => address));
  // A clock that is set begins another day.
  if (cold.size === 0 || faults.clockSteps.length > 0) return {};
  /** Day of the first attempt of each recipient. The attempt counts on the day of its claim. */
  const first = new Map<string, number>();
  const made = new Map<string, number>();
  return {
    observe(observation, at) {
      if (observation.kind === 'changed' && observation.to === 'in_flight') {
        const { address, attempts } = observation;
        if (attempts === 1) first.set(address, Math.floor((WALL_START_MS + at) / DAY_MS));
        else first.delete(address);
      }
      if (observation.kind !== 'said') return;
      const address = RCPT.exec(observation.line)?.[1] ?? '';
      const day = first.get(address);
      const { source, host } = observation.connection;
      first.delete(address);
      if (day === undefined || source === undefined || !cold.has(source)) return;
      const provider = host.name.endsWith('.example') ? 'other' : 'provider';
      const key = `${source} ${provider} ${day}`;
      const count = (made.get(key) ?? 0) + 1;
      made.set(key, count);
      if (count > CAP) fail(`${source} has made ${count} first attempts on a day`);
    },
  };
};
