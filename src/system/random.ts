/** Randomness that decides nothing secret: jitter, shuffles. Keys and ids take theirs from `node:crypto`. */

/** At least 0, below 1. */
export type Random = () => number;

export const realRandom: Random = Math.random;

/** Fisher-Yates, into a new array. */
export function shuffle<T>(random: Random, items: readonly T[]): T[] {
  const result = [...items];
  for (let index = result.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1));
    const [a, b] = [result[index] as T, result[other] as T];
    result[index] = b;
    result[other] = a;
  }
  return result;
}
