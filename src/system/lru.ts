/**
 * Caches with a maximum number of entries, of which the least recently used one is dropped first. With its own `max`,
 * `lru-cache` reserves the memory of all entries at once: 2 MB for 65,536, in each thread. These caches grow with their
 * entries.
 */
import { LRUCache } from 'lru-cache';

/** Returns an empty cache. */
export function createLru<Key extends {}, Value extends {}>(maxEntries: number): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ maxSize: maxEntries, sizeCalculation: () => 1 });
}
