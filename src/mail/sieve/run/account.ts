/**
 * The folders, annotations and contacts of the account, for which the caller of a run looks only when a script asks for them (RFC 5490,
 * RFC 6134, RFC 8579, RFC 9042).
 */

/** Input that a run needs to go on. */
export type NeededInput =
  /** The folders of the account. */
  | { what: 'folders' }
  /** The annotations of a mailbox (RFC 5490); an empty name stands for the server. */
  | { what: 'annotations'; mailbox: string }
  /** Answers about addresses: the address book (RFC 6134) has them or not. */
  | { what: 'contacts'; addresses: readonly string[] };

/** The annotations of a mailbox, or of the server where `mailbox` is empty. A mailbox that does not exist has none. */
export type Annotations = {
  mailbox: string;
  entries: readonly { entry: string; value: string }[];
};

/** Answer to a question about the address book. */
export type KnownContact = { address: string; isKnown: boolean };

/** Ends a run that is to be repeated with more input. It never leaves `runScript`. */
export class InputNeeded extends Error {
  override readonly name = 'InputNeeded';
  readonly needed: NeededInput;

  constructor(needed: NeededInput) {
    super(`the run needs to know more: ${needed.what}`);
    this.needed = needed;
  }
}

export type Folder = {
  name: string;
  /** Id that the folder keeps when it is renamed (RFC 8474 section 4). */
  mailboxId: string;
  specialUse: string | null;
};

export class Folders {
  readonly #names: ReadonlySet<string>;
  readonly #ids: ReadonlySet<string>;
  /** Names of the folders that have a special use, by the use in lower case. */
  readonly #byUse = new Map<string, Set<string>>();

  constructor(folders: readonly Folder[]) {
    this.#names = new Set(folders.map(({ name }) => name));
    this.#ids = new Set(folders.map(({ mailboxId }) => mailboxId));
    for (const { name, specialUse } of folders) {
      if (specialUse === null) continue;
      const use = specialUse.toLowerCase();
      const names = this.#byUse.get(use) ?? new Set();
      this.#byUse.set(use, names.add(name));
    }
  }

  /** Returns true when folders with all these names exist (RFC 5490 section 3.1). */
  haveNames(names: readonly string[]): boolean {
    return names.every((name) => this.#names.has(name));
  }

  /** Returns true when folders with all these ids exist (RFC 9042 section 6). */
  haveIds(ids: readonly string[]): boolean {
    return ids.every((id) => this.#ids.has(id));
  }

  /** Returns true when the folder, or any folder where it is undefined, has all these special uses (RFC 8579 section 3). */
  haveUses(folder: string | undefined, uses: readonly string[]): boolean {
    return uses.every((use) => {
      const names = this.#byUse.get(use.toLowerCase());
      return names !== undefined && (folder === undefined || names.has(folder));
    });
  }
}
