/** Random choices of a simulation. Each part draws from a source of its own, so that a change of one part does not change the others. */
import { createRandom } from '../support/random.ts';

export type Choices = {
  /** Returns a whole number from `least` to `most`. */
  between(least: number, most: number): number;
  /** Returns true with the given probability. */
  chance(probability: number): boolean;
  /** Returns one of the items, which are not empty. */
  pick<Item>(items: readonly Item[]): Item;
  /** Returns a number of at least 0 and below 1. */
  fraction(): number;
};

const FRACTIONS = 2 ** 30;

/** Returns the choices of the part of a simulation with this name. */
export function choicesOf(seed: number, name: string): Choices {
  let hash = seed >>> 0;
  for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193) >>> 0;
  const next = createRandom(hash);
  const fraction = () => next(FRACTIONS) / FRACTIONS;
  return {
    between: (least, most) => least + next(most - least + 1),
    chance: (probability) => fraction() < probability,
    pick: (items) => items[next(items.length)]!,
    fraction,
  };
}
