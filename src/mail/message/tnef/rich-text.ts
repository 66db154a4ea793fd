/** Decompresses the rich text of a message in TNEF (MS-OXRTFCP), which is the only form of the text that some programs send. */
import { OctetReader } from './mapi-properties.ts';

const COMPRESSED = 0x75465a4c;
const UNCOMPRESSED = 0x414c454d;

const DICTIONARY_OCTETS = 4_096;
/** Text that every dictionary begins with (MS-OXRTFCP section 2.1.2.1). */
const FIRST_TEXT =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier' +
  '{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';
/** Shortest text that a reference to the dictionary stands for. */
const MIN_REFERENCE_OCTETS = 2;

/** Returns the rich text; undefined when it is damaged, or larger than `maxOctets`. */
export function decompressRichText(octets: Buffer, maxOctets: number): Buffer | undefined {
  try {
    const reader = new OctetReader(octets);
    reader.take(4);
    const size = reader.u32();
    const form = reader.u32();
    reader.take(4);
    if (size > maxOctets) return undefined;
    if (form === UNCOMPRESSED) return reader.take(Math.min(size, reader.left));
    return form === COMPRESSED ? decompress(reader, size) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads octets and references in groups of eight, in front of which an octet says which is which. */
function decompress(reader: OctetReader, size: number): Buffer {
  const text = Buffer.alloc(size);
  const dictionary = Buffer.alloc(DICTIONARY_OCTETS);
  let end = dictionary.write(FIRST_TEXT, 'latin1');
  let length = 0;
  const add = (octet: number) => {
    dictionary[end] = octet;
    end = (end + 1) % DICTIONARY_OCTETS;
    text[length++] = octet;
  };
  while (length < size && reader.left > 0) {
    const kinds = reader.u8();
    for (let bit = 0; bit < 8 && length < size && reader.left > 0; bit++) {
      if ((kinds & (1 << bit)) === 0) {
        add(reader.u8());
        continue;
      }
      const reference = (reader.u8() << 8) | reader.u8();
      const from = reference >> 4;
      // A reference to the end of the dictionary ends the text.
      if (from === end) return text.subarray(0, length);
      const count = (reference & 15) + MIN_REFERENCE_OCTETS;
      for (let index = 0; index < count && length < size; index++)
        add(dictionary[(from + index) % DICTIONARY_OCTETS] ?? 0);
    }
  }
  return text.subarray(0, length);
}
