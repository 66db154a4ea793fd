/** Finds times at which more links of an email were followed than a person follows. */
import type { EngagementRow } from '../../db/tracking-tables.ts';

/** A person does not follow this many different links of an email within this time. */
const BURST_LINKS = 3;
export const BURST_MS = 10_000;

type Click = Pick<EngagementRow, 'at' | 'link' | 'ip'>;

/** A time from the first to the last click that are too many, with the addresses of their clients. */
export type Burst = { from: number; to: number; ips: readonly (string | null)[] };

/** Returns the bursts among the clicks of one email, which are in the order of their times. It takes linear time. */
export function findBursts(clicks: readonly Click[]): Burst[] {
  const spans: { from: number; to: number }[] = [];
  const links = new Map<number | null, number>();
  let start = 0;
  for (const { at: to, link } of clicks) {
    links.set(link, (links.get(link) ?? 0) + 1);
    for (let first = clicks[start]; first && first.at < to - BURST_MS; first = clicks[++start]) {
      const left = (links.get(first.link) ?? 0) - 1;
      if (left > 0) links.set(first.link, left);
      else links.delete(first.link);
    }
    if (links.size < BURST_LINKS) continue;
    const from = clicks[start]?.at ?? to;
    const last = spans.at(-1);
    if (last && from <= last.to) last.to = to;
    else spans.push({ from, to });
  }
  return spans.map(({ from, to }) => {
    const within = clicks.filter(({ at }) => at >= from && at <= to);
    return { from, to, ips: [...new Set(within.map(({ ip }) => ip))] };
  });
}
