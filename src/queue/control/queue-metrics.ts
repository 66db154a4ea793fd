/** The metrics of what waits in the queue, and the age of the mail that is due longest. */
import type { App } from '../../app.ts';
import { type Id, timeOfId } from '../../system/ids.ts';
import { countHeld } from '../held/store.ts';
import { providerOfPlace, type Restriction } from '../shaping/restriction.ts';
import { listRestrictions } from '../shaping/restrictions-store.ts';
import { listSources } from '../sources/list.ts';
import type { Censuses } from './census.ts';
import { sumByKind } from './stats.ts';

const MS_PER_SECOND = 1_000;

/** Registers the metrics. The numbers are those of the last count (census.ts). */
export function watchQueue(
  { metrics, db, clock, config }: Pick<App, 'metrics' | 'db' | 'clock' | 'config'>,
  censuses: Censuses,
): void {
  metrics.gauges('delivery_restrictions', 'Sites, tenants there and sources that back-off rules keep.', {
    labels: ['provider', 'effect'],
    read: async () => countRestrictions(await listRestrictions(db.read, clock.now())),
  });
  metrics.gauges('delivery_suspended_addresses', 'Addresses of a source from which no mail leaves.', {
    labels: ['source'],
    async read() {
      const sources = await listSources({ config, db, clock });
      return sources.map(({ name: source, addresses, suspended, suspendedByHand }) => {
        const kept = suspendedByHand ? addresses : suspended;
        return { labels: { source }, value: kept.length };
      });
    },
  });
  metrics.gauge('queue_held_recipients', 'Recipients whose mail waits for an operator.', () =>
    countHeld(db.read),
  );
  metrics.gauges('queue_recipients', 'Recipients of the queue. `due` and `deferred` are part of `waiting`.', {
    labels: ['kind', 'state'],
    async read() {
      const sums = sumByKind(await censuses.read());
      return [...sums].flatMap(([kind, { waiting, due, deferred, held, inFlight }]) =>
        Object.entries({ waiting, due, deferred, held, in_flight: inFlight }).map(([state, value]) => ({
          labels: { kind, state },
          value,
        })),
      );
    },
  });
  metrics.gauges('queue_oldest_due_seconds', 'Time for which the mail that is due longest has been due.', {
    labels: ['kind'],
    async read() {
      const census = await censuses.read();
      return [...sumByKind(census)].map(([kind, { nextDueAt }]) => ({
        labels: { kind },
        value: Math.max(0, census.at - (nextDueAt ?? census.at)) / MS_PER_SECOND,
      }));
    },
  });
  // Mail that waits is left out: no index has its age by kind, so a count would read the row of each recipient, a million of them too.
  metrics.gauges('queue_oldest_accepted_seconds', 'Time since the oldest mail in a state was accepted.', {
    labels: ['kind', 'state'],
    async read() {
      const census = await censuses.read();
      return [...sumByKind(census)].flatMap(([kind, { oldestHeld, oldestInFlight }]) =>
        Object.entries({ held: oldestHeld, in_flight: oldestInFlight }).map(([state, id]) => ({
          labels: { kind, state },
          value: id === null ? 0 : Math.max(0, census.at - timeOfId(id as Id<string>)) / MS_PER_SECOND,
        })),
      );
    },
  });
}

/** Counts restrictions by the provider whose mail they keep, `other` for a single site, and by whether it rests or is only slower. */
function countRestrictions(restrictions: readonly Restriction[]) {
  const counts = new Map<string, { labels: { provider: string; effect: string }; value: number }>();
  for (const { place, lower } of restrictions) {
    const labels = { provider: providerOfPlace(place) ?? 'other', effect: lower === null ? 'rest' : 'lower' };
    const key = `${labels.provider} ${labels.effect}`;
    counts.set(key, { labels, value: (counts.get(key)?.value ?? 0) + 1 });
  }
  return [...counts.values()];
}
