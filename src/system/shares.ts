/**
 * Slots that several owners share, each for a while. An owner gets another slot only while it holds fewer than are left free:
 * one owner alone has half of them, two have a third each, and a newcomer finds as many free as any of them holds.
 */
export function mayTakeAnother({ held, free }: { held: number; free: number }): boolean {
  return held < free;
}

export class Shares<Owner extends string> {
  readonly #total: number;
  readonly #held = new Map<Owner, number>();
  #taken = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Returns false, and takes nothing, when the owner has its share. */
  take(owner: Owner): boolean {
    const held = this.#held.get(owner) ?? 0;
    if (!mayTakeAnother({ held, free: this.#total - this.#taken })) return false;
    this.#held.set(owner, held + 1);
    this.#taken += 1;
    return true;
  }

  release(owner: Owner): void {
    const left = (this.#held.get(owner) ?? 0) - 1;
    this.#taken -= 1;
    if (left > 0) this.#held.set(owner, left);
    else this.#held.delete(owner);
  }
}
