/** FETCH responses (RFC 9051 section 7.5.2) as the memory session of IMAP writes them, each in one buffer. */

/** Name and value of an item, ready for the wire, such as `UID 7`. A text is sent as UTF-8. */
type WireItem = string | readonly (string | Buffer)[];

/** Returns the response for one message, with its CRLF. */
export function writeFetch(number: number, items: Iterable<WireItem>): Buffer {
  const pieces: Buffer[] = [];
  let text = `* ${number} FETCH (`;
  let separator = '';
  for (const item of items) {
    text += separator;
    separator = ' ';
    if (typeof item === 'string') {
      text += item;
      continue;
    }
    for (const piece of item) {
      if (typeof piece === 'string') text += piece;
      else {
        pieces.push(Buffer.from(text), piece);
        text = '';
      }
    }
  }
  pieces.push(Buffer.from(`${text})\r\n`));
  return Buffer.concat(pieces);
}

/** Returns `(flag flag …)`. */
export function writeFlags(flags: Iterable<string>): string {
  return `(${[...flags].join(' ')})`;
}
