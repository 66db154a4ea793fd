/** Removes what is too old from the store. A generation is kept for as long as one can go back to one of its cuts. */
import type { ObjectStore } from '../../objects/object-store.ts';
import { DAY_MS } from '../../system/clock.ts';
import { Remote } from '../follow/remote.ts';
import { generationPrefix } from '../names.ts';

/**
 * Removes the generations that were replaced more than `keepDays` ago, and returns their number. Only one with a complete base replaces those
 * before it, from its first cut on; one that never got its base is of no use once there is such a later one.
 * @throws StoreError; StandbyError when the list of a base is damaged
 */
export async function pruneGenerations(
  store: ObjectStore,
  { installation, keepDays, now }: { installation: string; keepDays: number; now: number },
): Promise<number> {
  const remote = new Remote(store, installation);
  const old: string[] = [];
  let replacedAt = Number.POSITIVE_INFINITY;
  for (const generation of (await remote.listGenerations()).reverse()) {
    const base = replacedAt < now - keepDays * DAY_MS ? undefined : await remote.findBase(generation);
    if (base) replacedAt = base.firstCut.takenAt;
    else if (replacedAt !== Number.POSITIVE_INFINITY) old.push(generation);
  }
  for (const generation of old) await removeAll(store, generationPrefix(installation, generation));
  return old.length;
}

async function removeAll(store: ObjectStore, prefix: string): Promise<void> {
  // A bucket may still list what was removed, so each page is the one after the last.
  for (let after: string | undefined; ; ) {
    const names = await store.list(prefix, after);
    for (const name of names) await store.remove(name);
    after = names.at(-1);
    if (after === undefined) return;
  }
}
