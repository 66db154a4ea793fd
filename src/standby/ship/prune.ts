/** Removes what is too old from the store. A generation is kept for as long as one can go back to one of its cuts. */
import type { ObjectStore } from '../../objects/object-store.ts';
import { DAY_MS } from '../../system/clock.ts';
import { Remote } from '../follow/remote.ts';
import { generationPrefix, startOfGeneration } from '../names.ts';

/** Removes the generations that were replaced by a later one more than `keepDays` ago. Returns their number. @throws StoreError */
export async function pruneGenerations(
  store: ObjectStore,
  { installation, keepDays, now }: { installation: string; keepDays: number; now: number },
): Promise<number> {
  const generations = await new Remote(store, installation).listGenerations();
  const old = generations.filter((_, at) => {
    const next = generations[at + 1];
    return next !== undefined && startOfGeneration(next) < now - keepDays * DAY_MS;
  });
  for (const generation of old) await removeAll(store, generationPrefix(installation, generation));
  return old.length;
}

async function removeAll(store: ObjectStore, prefix: string): Promise<void> {
  for (let names = await store.list(prefix); names.length > 0; names = await store.list(prefix))
    for (const name of names) await store.remove(name);
}
