/** Comparators (RFC 4790), by which tests compare strings, and the two that every script has (RFC 5228 section 2.7.3). */

export type Comparator = {
  name: string;
  /** Returns the form that is the same for equal texts. */
  fold(text: string): string;
  /** Returns a negative number when the first of two folded texts is the lesser, 0 when they are equal. */
  order(first: string, second: string): number;
  /** Character that `?` in a pattern stands for (RFC 5228 section 2.7.1). */
  character: 'octet' | 'code point';
  /** False when it cannot find a text in another one (RFC 4790 section 4.2.5). */
  hasSubstrings: boolean;
};

const ASCII_ONLY = /^[\0-\x7f]*$/;

/** Returns true when each character is one octet of UTF-8. */
export function isAscii(text: string): boolean {
  return ASCII_ONLY.test(text);
}

/** Returns the order of the UTF-8 octets of two texts. That of UTF-16 differs above U+FFFF. */
export function orderOctets(first: string, second: string): number {
  return Buffer.compare(Buffer.from(first), Buffer.from(second));
}

export const OCTET: Comparator = {
  name: 'i;octet',
  fold: (text) => text,
  order: orderOctets,
  character: 'octet',
  hasSubstrings: true,
};

/** Letters of ASCII are compared in upper case (RFC 4790 section 9.2.1). */
export const ASCII_CASEMAP: Comparator = {
  name: 'i;ascii-casemap',
  fold: (text) =>
    isAscii(text) ? text.toUpperCase() : text.replace(/[a-z]+/g, (letters) => letters.toUpperCase()),
  order: orderOctets,
  character: 'octet',
  hasSubstrings: true,
};

/** Limit of the work of a run. */
export type FoldBudget = {
  spendOnText(characters: number): void;
  /** Counts characters that are mapped one by one. */
  spendOnMapping(characters: number): void;
};

/** Counts the work of folding a text. */
export function spendOnFolding(text: string, { character }: Comparator, budget: FoldBudget): void {
  if (character === 'octet' || isAscii(text)) budget.spendOnText(text.length);
  else budget.spendOnMapping(text.length);
}

/** A value that tests compare. Its folded form is kept, since most tests use one comparator. */
export class MatchValue {
  readonly text: string;
  #comparator: Comparator | undefined;
  #folded = '';

  constructor(text: string) {
    this.text = text;
  }

  /** Returns the value in the form that a comparator compares. */
  fold(comparator: Comparator, budget: FoldBudget): string {
    if (this.#comparator !== comparator) {
      spendOnFolding(this.text, comparator, budget);
      this.#folded = comparator.fold(this.text);
      this.#comparator = comparator;
    }
    return this.#folded;
  }
}
