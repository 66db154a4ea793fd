/**
 * Decodes text of any charset that mail uses. The platform knows the encodings of the web; `iconv-lite` and the files of `charset/` add
 * those that mail has besides. A wrong label is common, so text that claims to be ASCII may be UTF-8, and decoding never fails.
 */
import iconv from 'iconv-lite';
import { choosesIso2022, decodeHz, decodeIso2022, isHz, isIso2022 } from './charset/iso-2022.ts';
import { decodeJohab, isJohab } from './charset/johab.ts';

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });
const westernEuropean = new TextDecoder('windows-1252');

/** Labels that say nothing: mailers write them without looking at the text. */
const MEANINGLESS: ReadonlySet<string> = new Set([
  ...['', 'us-ascii', 'ascii', 'us', 'ansi_x3.4-1968', 'ansi_x3.4-1986', 'iso646-us', 'iso-ir-6', 'csascii'],
  ...['unknown', 'unknown-8bit', 'x-unknown', 'x-user-defined', '7bit', '8bit'],
]);
/** Names that `iconv-lite` knows by another one. The platform reads UTF-16 without the mark of its byte order. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['x-mac-ce', 'maccenteuro'],
  ['x-mac-centraleurroman', 'maccenteuro'],
  ['x-mac-croatian', 'maccroatian'],
  ['x-mac-greek', 'macgreek'],
  ['x-mac-icelandic', 'maciceland'],
  ['x-mac-romanian', 'macromania'],
  ['x-mac-turkish', 'macturkish'],
  ['utf-16', 'utf-16'],
]);
/** Maximum number of decoders that are kept: more than the charsets that mail uses. */
const MAX_DECODERS = 64;

type Decode = (octets: Uint8Array) => string;
const decoders = new Map<string, Decode | undefined>();

/**
 * Returns the text of octets. Those of an unknown charset, or of none, are read as UTF-8 when they are valid UTF-8, else in the charset
 * that the text itself names, else as windows-1252, and as ISO 2022 when they have its escape sequences. Malformed sequences become U+FFFD.
 */
export function decodeCharset(octets: Uint8Array, label: string, named = ''): string {
  const decode = findDecoder(normalize(label)) ?? guess;
  return (decode === guess ? guess(octets, named) : decode(octets)).toWellFormed();
}

/** Returns the text of octets; undefined when the charset is unknown. */
export function decodeKnownCharset(octets: Uint8Array, label: string): string | undefined {
  return findDecoder(normalize(label))?.(octets).toWellFormed();
}

function normalize(label: string): string {
  return label.trim().toLowerCase();
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
  if (isIso2022(label)) return decodeIso2022;
  if (isHz(label)) return decodeHz;
  if (isJohab(label)) return decodeJohab;
  const alias = ALIASES.get(label);
  if (alias !== undefined) return (octets) => iconv.decode(octets, alias);
  try {
    const decoder = new TextDecoder(label);
    return (octets) => decoder.decode(octets);
  } catch {
    return iconv.encodingExists(label) ? (octets) => iconv.decode(octets, label) : undefined;
  }
}

function guess(octets: Uint8Array, named = ''): string {
  try {
    const text = strictUtf8.decode(octets);
    return choosesIso2022(octets) ? decodeIso2022(octets) : text;
  } catch {
    const decode = findDecoder(normalize(named)) ?? guess;
    return decode === guess ? westernEuropean.decode(octets) : decode(octets);
  }
}
