/** The fields of a message or of a part, as tests see them: each is decoded once, when a test needs it. */
import { MISSING_HOST, MISSING_MAILBOX, readAddressList } from '../../message/address-list.ts';
import { decodeWords } from '../../message/decode-words.ts';
import { unfoldValue } from '../../message/header-block.ts';
import { MatchValue } from '../comparator.ts';

/** A field with its lines. `name` is in lower case; a line that is not a field has an empty name. */
export type HeaderLines = { name: string; lines: Buffer; valueStart: number };

/** Maximum number of addresses of one field that tests see. Lists of recipients have some hundreds. */
const MAX_ADDRESSES = 10_000;
/** Maximum size of a value that tests see. Only lists of thousands of addresses are longer. */
const MAX_VALUE_OCTETS = 256 * 1024;

/** An address of which one side may be missing, so that it is not valid. */
export type AddressParts = { localPart: string | undefined; domain: string | undefined };

/** A part of an address that a test compares. */
type PartReader = { name: string; read(address: AddressParts): string | undefined };

export class HeaderView {
  readonly #fields: ReadonlyMap<string, readonly HeaderLines[]>;
  readonly #raw = new Map<string, readonly string[]>();
  readonly #decoded = new Map<string, readonly MatchValue[]>();
  readonly #parts = new Map<PartReader, Map<string, readonly (readonly MatchValue[])[]>>();

  constructor(fields: readonly HeaderLines[]) {
    this.#fields = Map.groupBy(fields, ({ name }) => name);
  }

  /** Returns true when there is a field with this name, which is in lower case. */
  has(name: string): boolean {
    return this.#fields.has(name);
  }

  /** Returns the unfolded values of the fields with a name in lower case, with encoded-words as they are. */
  rawValues(name: string): readonly string[] {
    return remember(this.#raw, name, () =>
      (this.#fields.get(name) ?? []).map(({ lines, valueStart }) =>
        unfoldValue(lines.subarray(valueStart, valueStart + MAX_VALUE_OCTETS)),
      ),
    );
  }

  /** Returns the decoded values of the fields with a name in lower case. */
  values(name: string): readonly MatchValue[] {
    // Scripts of many rules ask for the same field again and again.
    return (
      this.#decoded.get(name) ??
      remember(this.#decoded, name, () =>
        this.rawValues(name).map((value) => new MatchValue(decodeWords(value))),
      )
    );
  }

  /**
   * Returns a part of each address in the fields with a name in lower case, one list for each field.
   */
  addressParts(name: string, part: PartReader): readonly (readonly MatchValue[])[] {
    const known = remember(this.#parts, part, () => new Map<string, readonly (readonly MatchValue[])[]>());
    return remember(known, name, () => this.rawValues(name).map((value) => readParts(value, part)));
  }
}

function remember<Key, Value>(known: Map<Key, Value>, key: Key, find: () => Value): Value {
  const found = known.get(key) ?? find();
  known.set(key, found);
  return found;
}

function readParts(value: string, part: PartReader): MatchValue[] {
  const values: MatchValue[] = [];
  for (const { mailbox, host } of readAddressList(value, MAX_ADDRESSES)) {
    if (mailbox === null || host === null) continue;
    const localPart = mailbox === MISSING_MAILBOX ? undefined : mailbox;
    const text = part.read({ localPart, domain: host === MISSING_HOST ? undefined : host });
    if (text !== undefined) values.push(new MatchValue(text));
  }
  return values;
}
