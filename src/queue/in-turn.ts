/** Things to be done, a few at a time: in the order they came, but for those that must not wait behind the others. */
export class InTurn<Item> {
  readonly #most: number;
  readonly #run: (item: Item) => Promise<void>;
  readonly #first = new Set<Item>();
  readonly #waiting = new Set<Item>();
  #running = 0;

  /** `run` never rejects. */
  constructor(most: number, run: (item: Item) => Promise<void>) {
    this.#most = most;
    this.#run = run;
  }

  add(item: Item): void {
    this.#waiting.add(item);
    this.#runWaiting();
  }

  addFirst(item: Item): void {
    this.#first.add(item);
    this.#runWaiting();
  }

  #runWaiting(): void {
    while (this.#running < this.#most) {
      const next = take(this.#first) ?? take(this.#waiting);
      if (next === undefined) return;
      this.#running++;
      void this.#run(next).finally(() => {
        this.#running--;
        this.#runWaiting();
      });
    }
  }
}

function take<Item>(line: Set<Item>): Item | undefined {
  for (const item of line) {
    line.delete(item);
    return item;
  }
  return undefined;
}
