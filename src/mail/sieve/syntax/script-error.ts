/** An error of a script, with its place in the text. */

/** Lines and columns count from 1; a column is a UTF-16 code unit. */
type Position = { line: number; column: number };

export type ScriptError = Position & { message: string };

/** Reports an error at an offset of the text. It never leaves `checkScript`, which turns it into a `ScriptError`. */
export class ScriptFault extends Error {
  override readonly name = 'ScriptFault';
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

/** Finds lines and columns in a text. */
export class LineIndex {
  readonly #starts: number[] = [0];
  readonly #length: number;

  constructor(text: string) {
    this.#length = text.length;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  /** Returns the position of an offset. An offset behind the end is the end. */
  positionOf(offset: number): Position {
    const at = Math.min(offset, this.#length);
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] as number) <= at) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: at - (this.#starts[low] as number) + 1 };
  }
}
