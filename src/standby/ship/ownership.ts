/**
 * Sees to it that this host owns the installation. Nothing is sent before, and nothing more once another host has taken its place.
 */
import { type ObjectStore, StoreError } from '../../objects/object-store.ts';
import type { Timer } from '../../system/clock.ts';
import { errorMessage } from '../../system/errors.ts';
import type { System } from '../../system/system.ts';
import { becomeOwner, findOwner, isReplaced, type Owner, readOwnOwner } from '../owner.ts';

/** Time between two questions to the store who owns the installation, in milliseconds. */
const PERIOD_MS = 10_000;
/** Time for which the answer of the store counts, in milliseconds: two questions may fail, such as by a slow answer. */
const CONFIRMED_MS = 30_000;

type OwnershipOptions = {
  store: ObjectStore;
  installation: string;
  /** Is called once, when this host is the owner. */
  onOwner: () => void;
  /** Is called once, when another host has taken its place. */
  onReplaced: (owner: Owner) => Promise<void>;
};

type OwningApp = Pick<System, 'clock'> & { config: { dataDir: string } };

export class Ownership {
  readonly #app: OwningApp;
  readonly #options: OwnershipOptions;
  #own: Owner | undefined;
  #timer: Timer | undefined;
  #isStopped = false;
  /** Time at which the last question was asked to which the store has answered that this host is the owner, on the monotonic clock, in milliseconds. */
  #confirmedAt = Number.NEGATIVE_INFINITY;
  /** The reason why the store could not be asked; undefined when it could. */
  failure: string | undefined;
  /** The host that has taken the place of this one. */
  replacedBy: Owner | undefined;

  constructor(app: OwningApp, options: OwnershipOptions) {
    this.#app = app;
    this.#options = options;
  }

  start(): void {
    void this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  /**
   * Checks that the store has said a short while ago that this host is the owner. A store may take objects while it lists none, such as by a policy
   * of the bucket: another host that has taken the place of this one would not be seen.
   * @throws StoreError
   */
  requireOwner(): void {
    if (this.#app.clock.elapsed() - this.#confirmedAt <= CONFIRMED_MS) return;
    const reason = this.failure === undefined ? '' : `: ${this.failure}`;
    throw new StoreError('unreachable', `the store does not say who owns the installation${reason}`);
  }

  async #check(): Promise<void> {
    try {
      await this.#compare();
      this.failure = undefined;
    } catch (error) {
      this.failure = errorMessage(error);
    }
    if (!this.#isStopped && !this.replacedBy)
      this.#timer = this.#app.clock.after(PERIOD_MS, () => void this.#check());
  }

  async #compare(): Promise<void> {
    const { store, installation, onOwner, onReplaced } = this.#options;
    const { dataDir } = this.#app.config;
    const askedAt = this.#app.clock.elapsed();
    const known = this.#own ?? readOwnOwner(dataDir);
    const found = await findOwner(store, installation);
    if (known && isReplaced(known, found)) {
      this.replacedBy = found;
      if (found) await onReplaced(found);
      return;
    }
    this.#confirmedAt = askedAt;
    if (this.#own) return;
    const isOwner = known !== undefined && found?.node === known.node;
    this.#own = isOwner
      ? known
      : await becomeOwner(store, { dataDir, installation, now: this.#app.clock.now() });
    if (!this.#isStopped) onOwner();
  }
}
