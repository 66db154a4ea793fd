/** Removes what is too old from the store. A generation is kept for as long as one can go back to one of its cuts. */
import type { ObjectStore } from '../../objects/object-store.ts';
import { DAY_MS } from '../../system/clock.ts';
import { generationPrefix, isGeneration, startOfGeneration } from '../names.ts';

/** Removes the generations that were replaced by a later one more than `keepDays` ago. Returns their number. @throws StoreError */
export async function pruneGenerations(
  store: ObjectStore,
  { installation, keepDays, now }: { installation: string; keepDays: number; now: number },
): Promise<number> {
  const generations = await listGenerations(store, installation);
  const old = generations.filter((_, at) => {
    const next = generations[at + 1];
    return next !== undefined && startOfGeneration(next) < now - keepDays * DAY_MS;
  });
  for (const generation of old) await removeAll(store, generationPrefix(installation, generation));
  return old.length;
}

/** Returns the generations that the store has of an installation, the oldest first. @throws StoreError */
export async function listGenerations(store: ObjectStore, installation: string): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined = `${installation}/`; after !== undefined; ) {
    const [name] = await store.list(`${installation}/`, after);
    const generation = name?.split('/')[1] ?? '';
    if (isGeneration(generation)) found.push(generation);
    // All names of the generation come before this one, since "/" comes before "0".
    after = name && `${installation}/${generation}0`;
  }
  return found;
}

async function removeAll(store: ObjectStore, prefix: string): Promise<void> {
  for (let names = await store.list(prefix); names.length > 0; names = await store.list(prefix))
    for (const name of names) await store.remove(name);
}
