/** Chance that can be repeated: the same seed gives the same run, as far as the machine's timing lets it. */

export type SeededRandom = {
  /** At least 0, below 1. */
  share(): number;
  /** At least `low`, below `high`. */
  between(low: number, high: number): number;
  /** A whole number that can seed something else. Never 0. */
  seed(): number;
};

/** xorshift32 (Marsaglia 2003), stirred a few times so that neighbouring seeds part. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  for (let stir = 0; stir < 8; stir++) next();
  const share = () => next() / 2 ** 32;
  return {
    share,
    between: (low, high) => low + share() * (high - low),
    seed: next,
  };
}
