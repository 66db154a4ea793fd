/** Order statistics of small samples. */

/** Nearest rank: the smallest value that at least `share` of all values do not exceed; NaN of nothing. */
export function percentile(values: Float64Array | readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}
