/**
 * Decodes text of any charset that mail uses. The platform knows the encodings of the web; `iconv-lite` adds those that mail has
 * besides. A wrong label is common, so text that claims to be ASCII may be UTF-8, and decoding never fails.
 */
import iconv from 'iconv-lite';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
const westernEuropean = new TextDecoder('windows-1252');

/** Labels that say nothing: mailers write them without looking at the text. */
const MEANINGLESS: ReadonlySet<string> = new Set([
  '',
  'us-ascii',
  'ascii',
  'unknown',
  'unknown-8bit',
  'x-unknown',
]);
/** Maximum number of decoders that are kept: more than the charsets that mail uses. */
const MAX_DECODERS = 64;

type Decode = (octets: Uint8Array) => string;
const decoders = new Map<string, Decode | undefined>();

/**
 * Returns the text of octets. Octets of an unknown charset, or of none, are read as UTF-8 when they are valid UTF-8, and else as
 * windows-1252. Malformed sequences become U+FFFD.
 */
export function decodeCharset(octets: Uint8Array, label: string): string {
  return decodeKnownCharset(octets, label) ?? guess(octets);
}

/** Returns the text of octets; undefined when the charset is unknown. */
export function decodeKnownCharset(octets: Uint8Array, label: string): string | undefined {
  return findDecoder(label.trim().toLowerCase())?.(octets).toWellFormed();
}

function findDecoder(label: string): Decode | undefined {
  if (MEANINGLESS.has(label)) return guess;
  if (decoders.has(label)) return decoders.get(label);
  const decode = createDecoder(label);
  // Labels come from strangers, so their number is bounded.
  if (decoders.size >= MAX_DECODERS) decoders.clear();
  decoders.set(label, decode);
  return decode;
}

function createDecoder(label: string): Decode | undefined {
  try {
    const decoder = new TextDecoder(label);
    return (octets) => decoder.decode(octets);
  } catch {
    return iconv.encodingExists(label) ? (octets) => iconv.decode(octets, label) : undefined;
  }
}

function guess(octets: Uint8Array): string {
  try {
    return strictUtf8.decode(octets);
  } catch {
    return westernEuropean.decode(octets);
  }
}
