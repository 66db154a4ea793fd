/** Randomness for jitter and shuffles. Keys and ids are secret, and use `node:crypto` instead. */

/** Returns a number of at least 0 and below 1. */
export type Random = () => number;

export const realRandom: Random = Math.random;

/** Returns a new array with the items in random order (Fisher-Yates). */
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
