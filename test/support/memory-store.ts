/** A store of objects in memory, which fails when it is told to. */
import { readFileSync } from 'node:fs';
import { type ObjectStore, StoreError } from '../../src/objects/object-store.ts';

export type MemoryStore = ObjectStore & {
  readonly objects: Map<string, Buffer>;
  /** Names of the objects in the order in which they were stored. */
  readonly stored: string[];
  /** The reason for which nothing is possible; undefined when everything is. */
  failure: string | undefined;
};

export function createMemoryStore(): MemoryStore {
  const objects = new Map<string, Buffer>();
  const stored: string[] = [];
  const store: MemoryStore = {
    objects,
    stored,
    failure: undefined,
    async put(name, body) {
      requireReachable();
      const bytes = 'bytes' in body ? body.bytes : readFileSync(body.file).subarray(body.start, body.end);
      objects.set(name, Buffer.from(bytes));
      stored.push(name);
    },
    async create(name, bytes) {
      requireReachable();
      if (objects.has(name)) return false;
      objects.set(name, Buffer.from(bytes));
      stored.push(name);
      return true;
    },
    async get(name) {
      requireReachable();
      const bytes = objects.get(name);
      return bytes && iterate(bytes);
    },
    async list(prefix, after = '') {
      requireReachable();
      return [...objects.keys()]
        .filter((name) => name.startsWith(prefix) && name > after)
        .sort()
        .slice(0, 100);
    },
    async remove(name) {
      requireReachable();
      objects.delete(name);
    },
    close: async () => {},
  };
  function requireReachable(): void {
    if (store.failure !== undefined) throw new StoreError('unreachable', store.failure);
  }
  return store;
}

async function* iterate(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
