/**
 * Finds an octet in long and in short lines alike. `indexOf` is several times faster than a loop over long lines, but a call costs
 * as much as a loop over some tens of octets, and a message of empty lines would make one call for every other octet.
 */

/** Number of octets that are looked at one by one before `indexOf` is called. */
const NEAR_OCTETS = 16;

/** Returns the offset of the first such octet at or after `from`; -1 when there is none. */
export function findOctet(bytes: Buffer, octet: number, from: number): number {
  const near = Math.min(from + NEAR_OCTETS, bytes.length);
  for (let at = from; at < near; at++) if (bytes[at] === octet) return at;
  return near === bytes.length ? -1 : bytes.indexOf(octet, near);
}
