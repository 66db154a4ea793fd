/** Octets of US-ASCII that mail formats give a meaning to. */
export const TAB = 0x09;
export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const DOT = 0x2e;
export const EQUALS = 0x3d;
export const TILDE = 0x7e;
