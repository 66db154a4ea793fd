/**
 * Packs the values that one header field has in neighbouring contents into a page, so that a search looks through few long texts
 * instead of many short ones. A page has a record for each of 256 contents. A record is the values of the field in UTF-8, each with
 * an octet that ends the value, and an octet that ends the record. UTF-8 has none of these octets, so that no text is found across
 * two values.
 */

export const CONTENTS_PER_PAGE = 256;

const VALUE_END = 0xff;
/** Ends of records. The values of a content are all here, or too long to be here, or not known yet. */
const COMPLETE = 0xfe;
const TOO_LONG = 0xfd;
const MISSING = 0xfc;

/** Maximum size of the values of a record. Lists of hundreds of recipients are longer, and are read in the message. */
const MAX_RECORD_BYTES = 2 * 1024;

/** Positions of contents in their page. */
type Found = { matching: number[]; tooLong: number[]; missing: number[] };

/** Returns a page that knows no content. */
export function emptyPage(): Buffer {
  return Buffer.alloc(CONTENTS_PER_PAGE, MISSING);
}

/** Returns true for a page that knows no content. */
export function isEmptyPage(page: Uint8Array): boolean {
  return page.length === CONTENTS_PER_PAGE && page.every((octet) => octet === MISSING);
}

/** Returns the page with other values for some contents, by their positions. Undefined values make a content unknown. */
export function changePage(
  page: Uint8Array,
  changed: ReadonlyMap<number, readonly string[] | undefined>,
): Buffer {
  const records: Uint8Array[] = [];
  let start = 0;
  for (let at = 0; at < page.length; at++) {
    if (!isEnd(page[at] as number)) continue;
    const position = records.length;
    records.push(changed.has(position) ? writeRecord(changed.get(position)) : page.subarray(start, at + 1));
    start = at + 1;
  }
  return Buffer.concat(records);
}

function writeRecord(values: readonly string[] | undefined): Buffer {
  if (!values) return Buffer.of(MISSING);
  const octets: Buffer[] = [];
  let bytes = 0;
  for (const value of values) {
    const text = Buffer.from(value);
    bytes += text.length;
    if (bytes > MAX_RECORD_BYTES) return Buffer.of(TOO_LONG);
    octets.push(text, Buffer.of(VALUE_END));
  }
  return Buffer.concat([...octets, Buffer.of(COMPLETE)]);
}

/** Finds the contents that have a value with this text. Every value has the empty text. */
export function searchPage(bytes: Uint8Array, text: string): Found {
  const page = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const needle = text === '' ? Buffer.of(VALUE_END) : Buffer.from(text);
  const found: Found = { matching: [], tooLong: [], missing: [] };
  let position = 0;
  let match = page.indexOf(needle);
  // Most pages do not have a rare word, and most others have complete records only.
  const isComplete = !page.includes(MISSING) && !page.includes(TOO_LONG);
  const findEnd = isComplete ? findComplete : findAnyEnd;
  for (let at = findEnd(page, 0); at >= 0; at = findEnd(page, at + 1)) {
    if (isComplete && match < 0) return found;
    if (page[at] === MISSING) found.missing.push(position);
    else if (page[at] === TOO_LONG) found.tooLong.push(position);
    else if (match >= 0 && match < at) {
      found.matching.push(position);
      match = page.indexOf(needle, at);
    }
    position++;
  }
  return found;
}

function findComplete(page: Buffer, from: number): number {
  return page.indexOf(COMPLETE, from);
}

/** Octet by octet, which takes several times longer. */
function findAnyEnd(page: Buffer, from: number): number {
  for (let at = from; at < page.length; at++) if (isEnd(page[at] as number)) return at;
  return -1;
}

function isEnd(octet: number): boolean {
  return octet >= MISSING && octet !== VALUE_END;
}
