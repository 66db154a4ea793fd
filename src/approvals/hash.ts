/** Makes the hashes that approvals bind to. */
import { hash } from 'node:crypto';

/** Returns the SHA-256 hash of values, in hex. Their order counts. */
export function hashOf(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values));
}
