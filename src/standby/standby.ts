/** The warm standby of this installation: what changes is shipped to a store, from which another host can go on. */
import type { App } from '../app.ts';
import type { Backups } from '../backups/backups.ts';
import { createSystemPart } from '../thread-app.ts';
import { ReplacedError, replacedBy } from './replaced.ts';
import type { FollowedAccounts } from './ship/collect.ts';
import { SHIP_PART } from './ship/part.ts';
import { type Progress, Shipper } from './ship/shipper.ts';
import { storeSettings } from './store-settings.ts';

export type Standby = {
  /** How far shipping is; undefined while `standby.store` is empty. */
  readonly progress: Progress | undefined;
  /** Resolves, with the reason, only if another host has taken the place of this one. */
  readonly replaced: Promise<Error>;
  /** Ships one cut. It never rejects. */
  tick(): Promise<void>;
  stop(graceMs: number): Promise<void>;
};

/** Nothing is shipped without a store, and without a daemon. */
export const NO_STANDBY: Standby = {
  progress: undefined,
  replaced: new Promise(() => {}),
  tick: async () => {},
  stop: async () => {},
};

type StandbyParts = { accounts: FollowedAccounts; backups: Pick<Backups, 'makeBase'>; inThreads: boolean };

/** Returns the standby as the configuration has it. Its thread starts with the first cut. */
export function createStandby(app: App, { accounts, backups, inThreads }: StandbyParts): Standby {
  const { standby } = app.config;
  if (standby.store === '') return NO_STANDBY;
  const { id: installation } = app.db.installation;
  const data = () => ({ installation, settings: storeSettings(app.config) });
  const part = createSystemPart(app, SHIP_PART, { inThreads, host: {}, data });
  const makeBase = (folder: string) => backups.makeBase(folder);
  const shipper = new Shipper({ ...app, accounts, makeBase, shipCalls: part.calls, installation });
  const replaced = Promise.withResolvers<Error>();
  registerMetrics(app, () => shipper.progress);
  return {
    get progress() {
      return shipper.progress;
    },
    replaced: replaced.promise,
    async tick() {
      await shipper.tick();
      const owner = shipper.progress.replacedBy;
      if (owner) replaced.resolve(new ReplacedError(replacedBy(owner)));
    },
    stop: (graceMs) => part.stop(graceMs),
  };
}

function registerMetrics({ clock, metrics }: Pick<App, 'clock' | 'metrics'>, progress: () => Progress): void {
  const seconds = (since: number | null) => (since === null ? 0 : Math.max(0, (clock.now() - since) / 1_000));
  metrics.gauge('standby_lag_seconds', 'Age of the oldest change that the standby store does not have.', () =>
    seconds(progress().oldestUnstoredAt),
  );
  metrics.gauge(
    'standby_cut_age_seconds',
    'Age of the newest cut that the standby store has; -1 before the first one of this run.',
    () => {
      const { storedCutAt } = progress();
      return storedCutAt === null ? -1 : seconds(storedCutAt);
    },
  );
  metrics.gauge(
    'standby_waiting_bytes',
    'Size of the changes that wait for the standby store.',
    () => progress().waitingBytes,
  );
  metrics.gauge(
    'standby_gaps',
    'Times since the start in which not all changes were collected.',
    () => progress().gaps,
  );
  metrics.gauge(
    'standby_resyncs',
    'Times since the start in which a generation went on after a restart or a gap.',
    () => progress().resyncs,
  );
  metrics.gauge(
    'standby_objects',
    'Objects that the standby store has taken since the start.',
    () => progress().objects,
  );
  metrics.gauge(
    'standby_bytes',
    'Bytes that the standby store has taken since the start.',
    () => progress().bytes,
  );
}
