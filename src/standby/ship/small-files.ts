/**
 * Finds the small files of the data directory that have changed: keys, certificates, and all else that is no database and no content of a
 * message. They are rare, so their times and sizes are compared.
 */
import { type Dirent, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isCopiedWhole } from '../../backups/create.ts';
import { namesIn } from '../../backups/format.ts';

export class SmallFiles {
  readonly #dataDir: string;
  /** Time of modification and size of each known file, by its path. */
  #known = new Map<string, string>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Returns the paths, relative to the data directory, of the files that are new or changed since the last time. */
  async takeChanged(): Promise<string[]> {
    const found = new Map<string, string>();
    for (const name of await namesIn(this.#dataDir)) if (isCopiedWhole(name)) await this.#find(name, found);
    const changed = [...found].filter(([path, state]) => this.#known.get(path) !== state);
    this.#known = found;
    return changed.map(([path]) => path);
  }

  async #find(path: string, found: Map<string, string>): Promise<void> {
    const stats = statSync(join(this.#dataDir, path), { throwIfNoEntry: false });
    if (stats?.isDirectory()) {
      const entries: Dirent[] = await readdir(join(this.#dataDir, path), { withFileTypes: true });
      for (const { name } of entries) await this.#find(join(path, name), found);
    } else if (stats?.isFile()) found.set(path, `${stats.mtimeMs} ${stats.size}`);
  }
}
