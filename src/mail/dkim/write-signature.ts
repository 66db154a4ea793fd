/** The parts that all signature fields have in common, those of DKIM and those of ARC. */
import { type KeyObject, sign } from 'node:crypto';

/** Maximum length of a line. Folds are allowed between names and within base64 (RFC 6376 section 3.5). */
const MAX_LINE_CHARACTERS = 72;

/** Returns the names for `h=`, separated by colons and folded. */
export function foldNames(names: readonly string[]): string {
  let text = '';
  let column = 3;
  for (const [index, name] of names.entries()) {
    const item = index === 0 ? name : `:${name}`;
    if (column + item.length > MAX_LINE_CHARACTERS) {
      text += '\r\n ';
      column = 1;
    }
    text += item;
    column += item.length;
  }
  return text;
}

/** Returns the signature for `b=`, folded. White space in base64 is ignored (RFC 6376 section 3.5). */
export function foldBase64(text: string): string {
  return text.replace(new RegExp(`.{${MAX_LINE_CHARACTERS}}(?=.)`, 'g'), '$&\r\n ');
}

/** Returns the RSA signature of the data. The operation takes a millisecond and runs in the thread pool. */
export function signInPool(data: Buffer, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    sign('sha256', data, key, (error, signature) => (error ? reject(error) : resolve(signature))),
  );
}
