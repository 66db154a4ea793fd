/**
 * Reads a list of MAPI properties, as TNEF has it for a message and for each of its attachments (MS-OXTNEF section 2.1.3.4, MS-OXCDATA
 * section 2.11). Properties that are not asked for are passed over.
 */

/** Value of a property that is text, octets, or an object. Numbers are passed over. */
export type MapiValue =
  | { kind: 'octets' | 'object'; octets: Buffer }
  | { kind: 'ansi' | 'unicode'; octets: Buffer };

/** Values by the id of their property, the first value of each. */
export type MapiProperties = ReadonlyMap<number, MapiValue>;

/** Maximum number of properties, and of values of one. Messages have some hundreds. */
const MAX_PROPERTIES = 10_000;
/** Ids from here on have a name or a number of their own. */
const FIRST_NAMED_ID = 0x8000;
const GUID_OCTETS = 16;
const MULTIPLE_VALUES = 0x1000;

/** Octets of the types with a fixed size. Values are padded to four octets. */
const FIXED_OCTETS: ReadonlyMap<number, number> = new Map([
  ...[0x0002, 0x0003, 0x0004, 0x000a, 0x000b].map((type) => [type, 4] as const),
  ...[0x0005, 0x0006, 0x0007, 0x0014, 0x0040].map((type) => [type, 8] as const),
  [0x0048, GUID_OCTETS],
]);
const KINDS: ReadonlyMap<number, MapiValue['kind']> = new Map([
  [0x001e, 'ansi'],
  [0x001f, 'unicode'],
  [0x0102, 'octets'],
  [0x000d, 'object'],
]);

/**
 * Returns the properties that begin in the octets. A list that ends too early, or has an unknown type, ends there.
 * @param ids the properties that are wanted
 */
export function readMapiProperties(octets: Buffer, ids: ReadonlySet<number>): MapiProperties {
  const found = new Map<number, MapiValue>();
  const reader = new OctetReader(octets);
  try {
    const count = Math.min(reader.u32(), MAX_PROPERTIES);
    for (let index = 0; index < count; index++) {
      const type = reader.u16();
      const id = reader.u16();
      if (id >= FIRST_NAMED_ID) skipName(reader);
      const value = readValues(reader, type);
      if (value === 'unknown') break;
      if (value && ids.has(id) && !found.has(id)) found.set(id, value);
    }
  } catch {
    // The properties in front of the damage are kept.
  }
  return found;
}

function skipName(reader: OctetReader): void {
  reader.take(GUID_OCTETS);
  const isNumber = reader.u32() === 0;
  if (isNumber) reader.u32();
  else takePadded(reader, reader.u32());
}

/** Returns the first value of a property; undefined for numbers. */
function readValues(reader: OctetReader, typeWithFlag: number): MapiValue | undefined | 'unknown' {
  const isMultiple = (typeWithFlag & MULTIPLE_VALUES) !== 0;
  const type = typeWithFlag & ~MULTIPLE_VALUES;
  const fixed = FIXED_OCTETS.get(type);
  const kind = KINDS.get(type);
  if (fixed === undefined && kind === undefined) return 'unknown';
  if (fixed !== undefined) {
    reader.take(fixed * (isMultiple ? reader.u32() : 1));
    return undefined;
  }
  let first: Buffer | undefined;
  const count = Math.min(reader.u32(), MAX_PROPERTIES);
  for (let index = 0; index < count; index++) first ??= takePadded(reader, reader.u32());
  return first && kind ? { kind, octets: first } : undefined;
}

/** Takes a value and the octets that fill it up to a multiple of four. */
function takePadded(reader: OctetReader, length: number): Buffer {
  const value = reader.take(length);
  reader.skip(-length & 3);
  return value;
}

/** Reports octets that end before a value does. */
class TruncatedError extends Error {
  override readonly name = 'TruncatedError';
}

export class OctetReader {
  readonly #octets: Buffer;
  #at = 0;

  constructor(octets: Buffer) {
    this.#octets = octets;
  }

  get left(): number {
    return this.#octets.length - this.#at;
  }

  u8(): number {
    return this.take(1).readUInt8();
  }

  u16(): number {
    return this.take(2).readUInt16LE();
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  /** Returns the next octets. They share the memory of the whole. */
  take(length: number): Buffer {
    if (length > this.left) throw new TruncatedError('the octets end too early');
    this.#at += length;
    return this.#octets.subarray(this.#at - length, this.#at);
  }

  /** Passes over octets, of which some may be missing at the end. */
  skip(length: number): void {
    this.#at = Math.min(this.#octets.length, this.#at + length);
  }
}
