/**
 * Sees to it that this host owns the installation. Nothing is sent before, and nothing more once another host has taken its place.
 */
import type { ObjectStore } from '../../objects/object-store.ts';
import type { Timer } from '../../system/clock.ts';
import { errorMessage } from '../../system/errors.ts';
import type { System } from '../../system/system.ts';
import { becomeOwner, findOwner, isReplaced, type Owner, readOwnOwner } from '../owner.ts';

/** Time between two questions to the store who owns the installation, in milliseconds. */
const PERIOD_MS = 10_000;

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
    const known = this.#own ?? readOwnOwner(dataDir);
    const found = await findOwner(store, installation);
    if (known && isReplaced(known, found)) {
      this.replacedBy = found;
      if (found) await onReplaced(found);
      return;
    }
    if (this.#own) return;
    const isOwner = known !== undefined && found?.node === known.node;
    this.#own = isOwner
      ? known
      : await becomeOwner(store, { dataDir, installation, now: this.#app.clock.now() });
    if (!this.#isStopped) onOwner();
  }
}
