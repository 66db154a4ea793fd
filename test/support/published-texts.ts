/** A part of DNS that publishes the texts of the database, as the zone of the name server does. */
import type { App } from '../../src/app.ts';
import { type TextPlace, zoneTextRecords } from '../../src/nameserver/texts.ts';

type Options = {
  /** End of the names that it has. */
  suffix: string;
  /** Shows the texts, which are lines of a zone. */
  show(texts: readonly string[]): void;
};

export class PublishedTexts implements TextPlace {
  /** Problem that every publication meets; undefined when there is none. */
  problem: string | undefined;
  /** False while DNS does not show what is published. */
  isShown = true;
  readonly #app: Pick<App, 'db' | 'clock'>;
  readonly #options: Options;

  constructor(app: Pick<App, 'db' | 'clock'>, options: Options) {
    this.#app = app;
    this.#options = options;
  }

  hasName(name: string): boolean {
    return name.endsWith(this.#options.suffix);
  }

  async publishText(): Promise<string | undefined> {
    if (this.isShown) this.#options.show(await this.list());
    return this.problem;
  }

  /** Returns the texts of the database, as lines of a zone. */
  async list(): Promise<string[]> {
    const records = await zoneTextRecords(this.#app);
    return records.map(({ name, value }) => `${name} TXT "${value}"`);
  }
}

/** A place that has no name. */
export const NO_TEXTS: TextPlace = { hasName: () => false, publishText: async () => undefined };
