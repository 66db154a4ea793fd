/**
 * A store of objects: bytes under names, on another disk, on another host or in a bucket. Every kind of store keeps the same promises, which
 * `test/objects/contract.ts` checks for each. A store never tries again by itself: the caller knows what it waits for.
 */

/** The bytes of an object: in memory, or a part of a file from `start` up to but not including `end`. The file must not change meanwhile. */
export type ObjectBody = { bytes: Uint8Array } | { file: string; start: number; end: number };

export type ObjectStore = {
  /**
   * Stores an object; resolves when the store has it durably. The same name twice replaces it. After an error it may be stored or not, but
   * never in part.
   * @throws StoreError
   */
  put(name: string, body: ObjectBody): Promise<void>;
  /**
   * Stores an object unless the name exists. Returns whether it was stored. After an error it may have been stored: whoever repeats the call
   * and is told false compares the object with its own bytes, which must differ from those that others would store.
   * @throws StoreError
   */
  create(name: string, bytes: Uint8Array): Promise<boolean>;
  /**
   * Returns the bytes as they arrive; undefined when there is no such object. The caller reads them to their end or leaves the loop. They
   * fail with StoreError unless all of them have arrived.
   * @throws StoreError
   */
  get(name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /**
   * Returns names that begin with the prefix and come after `after`, in the order of their bytes: one page, empty at the end. A bucket may
   * show a name a moment after it was stored.
   * @throws StoreError
   */
  list(prefix: string, after?: string): Promise<string[]>;
  /**
   * Removes an object, which may not exist.
   * @throws StoreError
   */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
};

/**
 * Says why a store did not do what it was asked, in a sentence for the operator. `unreachable`: try again later. `refused`: trying again is of
 * no use before the operator has changed something, such as credentials, permissions, or the space of the store.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly kind: 'unreachable' | 'refused';

  constructor(kind: StoreError['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Maximum size of an object: 32 MiB of content, with what encryption and an archive add to it. Our own limit. */
export const MAX_OBJECT_BYTES = 33 * 1024 * 1024;
/** Maximum number of names in one page, as in S3. */
export const MAX_LISTED = 1_000;
/** Maximum length of a name. A key of S3 has at most 1,024 bytes, of which the prefix of the operator takes some. */
const MAX_NAME_CHARACTERS = 512;

/** Matches a name: parts of letters, digits, `-`, `_` and `.`, of which none begins with a dot or is longer than a file name may be. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,199})*$/;
/** Matches the beginning of a name: whole parts, and the beginning of another. It cannot take long, since each part begins after a slash. */
const NAME_PREFIX = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}\/)*(?:[A-Za-z0-9_-][A-Za-z0-9._-]{0,199})?$/;

/** Returns true for the name of an object. */
export function isObjectName(name: string): boolean {
  return name.length <= MAX_NAME_CHARACTERS && NAME.test(name);
}

/** Returns true for a text with which names can begin. */
export function isObjectPrefix(prefix: string): boolean {
  return prefix.length <= MAX_NAME_CHARACTERS && NAME_PREFIX.test(prefix);
}

/**
 * Checks a name before it is used.
 * @throws Error
 */
export function requireName(name: string): void {
  if (!isObjectName(name)) throw new Error(`${JSON.stringify(name)} is not the name of an object`);
}

/**
 * Checks a prefix before it is used.
 * @throws Error
 */
export function requirePrefix(prefix: string): void {
  if (!isObjectPrefix(prefix)) throw new Error(`${JSON.stringify(prefix)} does not begin a name`);
}
