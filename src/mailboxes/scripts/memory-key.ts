/** Makes the keys of what scripts remember (memory-store.ts). */
import { createHash } from 'node:crypto';

type Remembered = 'duplicate' | 'note' | 'vacation';

/** Returns the key of something of a kind. The parts are hashed so that no two lists of parts have the same key. */
export function memoryKey(kind: Remembered, ...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:${part}`);
  return `${kind}:${hash.digest('base64url')}`;
}
