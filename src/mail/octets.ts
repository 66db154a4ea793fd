/** Octets of US-ASCII that mail formats give a meaning to. */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const DOT = 0x2e;
export const EQUALS = 0x3d;
export const TILDE = 0x7e;

/**
 * Number of octets that are compared one by one before `indexOf` is called, which is several times faster in long lines. A call costs as much
 * as a loop over some tens of octets, and a message of empty lines would make one call for every other octet.
 */
const NEAR_OCTETS = 16;

/** Returns the offset of the first such octet at or after `from`; -1 when there is none. */
export function findOctet(bytes: Buffer, octet: number, from: number): number {
  const near = Math.min(from + NEAR_OCTETS, bytes.length);
  for (let at = from; at < near; at++) if (bytes[at] === octet) return at;
  return near === bytes.length ? -1 : bytes.indexOf(octet, near);
}
