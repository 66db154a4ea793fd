/** Writes strings that may stand without quotes (RFC 9051 section 9, `astring`). */
import { type TextForm, writeString } from './strings.ts';

/** Characters that never need quotes. NIL is quoted, since some clients read it as the absence of a string. */
const PLAIN = /^(?!nil$)[\w$&'+,./:;=?@-]+$/i;

/** Returns the text itself where it is an atom of common characters, else as a string. */
export function writeAstring(text: string, form: TextForm): string {
  return PLAIN.test(text) ? text : writeString(text, form);
}
