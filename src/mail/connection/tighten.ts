/** Limits under stress: a listener that is nearly full expects more of clients without a login. */

/** Returns limits of which none is larger than its counterpart under stress. */
export function tighten<Limits extends Readonly<Record<string, number>>>(
  limits: Limits,
  stress: Partial<Limits>,
): Limits {
  const tight = Object.entries(stress).map(([name, value]) => [name, Math.min(limits[name] ?? value, value)]);
  return { ...limits, ...Object.fromEntries(tight) };
}
