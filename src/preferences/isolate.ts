/**
 * Keeps the direction of a value from changing the sentence around it: a name in Arabic or Hebrew is isolated, and characters that would turn the
 * rest of the line around are removed (Unicode Standard Annex #9, 2.4 and 3.1.2).
 */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;
const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/** Returns the value as it can stand in a sentence of another direction. */
export function isolate(value: string): string {
  const plain = value.replace(DIRECTION, '');
  return RIGHT_TO_LEFT.test(plain) ? `${FIRST_STRONG_ISOLATE}${plain}${POP_ISOLATE}` : plain;
}
