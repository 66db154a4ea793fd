/** The parts of a run's input that the caller finds out only when a script asks for them. */

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
