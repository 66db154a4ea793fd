/**
 * Shares slots among several owners. A slot cannot be taken back from its owner, for example the connection to a slow peer, so
 * some slots always stay free for an owner that comes later: an owner gets another slot only while it holds at most `perFree` for
 * each other slot that is free. With `perFree` 1, one owner alone has half of the slots, two have a third each, and a new owner
 * finds as many free as any of them holds; with 3, one owner alone has three quarters, and two have three sevenths each. With an
 * infinite `perFree` slots go to whoever comes first. Switches share their packet memory by this rule ("dynamic thresholds":
 * Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998).
 */
type Situation = { held: number; free: number; perFree?: number };

/** Returns true when an owner may take another slot. An owner without any slot may take the last one. */
export function mayTakeAnother({ held, free, perFree = 1 }: Situation): boolean {
  return free > 0 && (perFree === Number.POSITIVE_INFINITY || held <= perFree * (free - 1));
}

export class Shares<Owner = string> {
  readonly #total: number;
  readonly #perFree: number;
  readonly #held = new Map<Owner, number>();
  #taken = 0;

  constructor(total: number, { perFree = 1 }: { perFree?: number } = {}) {
    this.#total = total;
    this.#perFree = perFree;
  }

  get free(): number {
    return this.#total - this.#taken;
  }

  mayTake(owner: Owner): boolean {
    return mayTakeAnother({ held: this.heldBy(owner), free: this.free, perFree: this.#perFree });
  }

  /**
   * Returns true when the owner holds more than its share, because others have come since: it could not take its last
   * slot again. An owner never has to give up its only slot.
   */
  isOver(owner: Owner): boolean {
    const held = this.heldBy(owner);
    return held > 0 && !mayTakeAnother({ held: held - 1, free: this.free + 1, perFree: this.#perFree });
  }

  /** Takes a slot. Returns false, and takes none, when the owner has its share already. */
  take(owner: Owner): boolean {
    if (!this.mayTake(owner)) return false;
    this.count(owner);
    return true;
  }

  /** Takes a slot for the owner regardless of its share. */
  count(owner: Owner): void {
    this.#held.set(owner, this.heldBy(owner) + 1);
    this.#taken += 1;
  }

  release(owner: Owner): void {
    const left = this.heldBy(owner) - 1;
    this.#taken -= 1;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
  }

  /** Returns the number of slots that the owner has. */
  heldBy(owner: Owner): number {
    return this.#held.get(owner) ?? 0;
  }
}
