/** A source that is warmed up sends no more first attempts on a day than its curve allows, and what was claimed before that. */
import { WALL_START_MS } from '../simulation.ts';
import type { MakeCheck } from './check.ts';

const DAY_MS = 86_400_000;
/** First attempts of the first day of the curve. */
const CAP = 20;
/** Messages that may be claimed when the number is used up. */
const CLAIMED = 64;

export const checkWarmUps: MakeCheck = ({ policies: { sources }, faults, mail }, fail) => {
  const cold = new Set(sources.filter(({ isCold }) => isCold).map(({ address }) => address));
  // A kill forgets what was sent in the last second, and a clock that is set begins another day.
  if (cold.size === 0 || faults.ends.length > 0 || faults.clockSteps.length > 0) return {};
  const tried = new Set<string>();
  const sent = new Map<string, number>();
  const recipients = new Map(mail.map((one) => [one.name, one.recipients.length]));
  return {
    observe(observation, at) {
      if (observation.kind !== 'mail') return;
      const { source, host } = observation.connection;
      const isFirst = !tried.has(observation.mail);
      tried.add(observation.mail);
      if (!isFirst || source === undefined || !cold.has(source)) return;
      const provider = host.name.endsWith('.example') ? 'other' : 'provider';
      const key = `${source} ${provider} ${Math.floor((WALL_START_MS + at) / DAY_MS)}`;
      const count = (sent.get(key) ?? 0) + (recipients.get(observation.mail) ?? 1);
      sent.set(key, count);
      if (count > CAP + CLAIMED) fail(`${source} has sent ${count} first attempts on a day`);
    },
  };
};
