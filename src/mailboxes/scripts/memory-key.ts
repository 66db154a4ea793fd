/** Makes the keys of what scripts remember (memory-store.ts). */
import { createHash } from 'node:crypto';

/** Kinds of what scripts remember. */
export type MemoryKind = 'duplicate' | 'note' | 'vacation';
export type MemoryKey = `${MemoryKind}:${string}`;

/** Returns the kind of what a key stands for. */
export function kindOf(key: MemoryKey): MemoryKind {
  return key.slice(0, key.indexOf(':')) as MemoryKind;
}

/** Returns the key of something of a kind. The parts are hashed so that no two lists of parts have the same key. */
export function memoryKey(kind: MemoryKind, ...parts: readonly string[]): MemoryKey {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return `${kind}:${hash.digest('base64url')}`;
}
