/**
 * Any character of Unicode except surrogates, for `fc.string({ unit: anyCharacter })`. It is the same as the unit
 * `binary` of fast-check, which keeps a table of all of the million characters: filling it costs each test process more
 * than a second, and each of its garbage collections goes over it.
 */
import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const MAX_CODE_POINT = 0x10ffff;

export const anyCharacter = fc
  .integer({ min: 0, max: MAX_CODE_POINT - SURROGATES })
  .map((index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES), indexOf);

/** Lets fast-check insert strings such as `__proto__`, and shrink them. */
function indexOf(character: unknown): number {
  const text = String(character);
  const code = text.codePointAt(0);
  if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('not one character');
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}
