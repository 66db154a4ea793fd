/**
 * Node allocates small buffers in slabs of 64 KiB, and a slab lives as long as any buffer in it. So octets that a connection holds while it
 * waits are copied out of their slab.
 */

/** Returns a copy that has memory of its own. */
export function unpooled(octets: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(octets.length);
  copy.set(octets);
  return copy;
}
