/** Counts the lines of a text, whose positions are asked for in their order, so that all of them together take linear time. */
export class LineCounter {
  readonly #text: string;
  #line: number;
  /** Position of the next line break; infinite behind the last one. */
  #nextBreak: number;

  /** `first` is the number of the first line. */
  constructor(text: string, first = 1) {
    this.#text = text;
    this.#line = first;
    this.#nextBreak = this.#breakFrom(0);
  }

  /** Returns the line of a position, which is not before the last one that was asked for. */
  lineOf(position: number): number {
    while (this.#nextBreak < position) {
      this.#line++;
      this.#nextBreak = this.#breakFrom(this.#nextBreak + 1);
    }
    return this.#line;
  }

  #breakFrom(position: number): number {
    const found = this.#text.indexOf('\n', position);
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  }
}
