/** A maildrop as one client sees it: the numbers of its messages, and which of them are marked as deleted. */
import type { Maildrop } from './session.ts';

export class OpenMaildrop {
  readonly maildrop: Maildrop;
  /** Number and size of the messages that are not marked as deleted. */
  count: number;
  sizeBytes: number;
  readonly #isDeleted: Uint8Array;

  constructor(maildrop: Maildrop) {
    this.maildrop = maildrop;
    this.#isDeleted = new Uint8Array(maildrop.sizes.length);
    this.count = maildrop.sizes.length;
    this.sizeBytes = maildrop.sizes.reduce((total, size) => total + size, 0);
  }

  /** Number of all messages, with those that are marked as deleted. */
  get length(): number {
    return this.#isDeleted.length;
  }

  /** Returns true for the index of a message that is not marked as deleted. */
  has(index: number): boolean {
    return this.#isDeleted[index] === 0;
  }

  sizeOf(index: number): number {
    return this.maildrop.sizes[index] ?? 0;
  }

  /** Returns the unique id of a message (RFC 1939 section 7). No other message of this user ever has it. */
  uniqueIdOf(index: number): string {
    return `${this.maildrop.uidValidity}.${this.maildrop.uids[index]}`;
  }

  /** Marks a message that is not marked yet. */
  delete(index: number): void {
    this.#isDeleted[index] = 1;
    this.count--;
    this.sizeBytes -= this.sizeOf(index);
  }

  /** Takes back all marks. */
  reset(): void {
    this.#isDeleted.fill(0);
    this.count = this.length;
    this.sizeBytes = this.maildrop.sizes.reduce((total, size) => total + size, 0);
  }

  /** Returns the indexes of the messages that are marked as deleted, in order. */
  deleted(): number[] {
    const indexes: number[] = [];
    for (let index = 0; index < this.length; index++) if (!this.has(index)) indexes.push(index);
    return indexes;
  }
}
