/** Remembers a fact in a file of the data directory, so that commands know it without the daemon. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { writeFlushed } from '../system/write-flushed.ts';

type RememberedFile<Schema extends TSchema> = {
  /** Returns undefined when there is no such file, or when it cannot be read. */
  read(dataDir: string): Static<Schema> | undefined;
  /** @throws errors of the file system */
  write(dataDir: string, fact: Static<Schema>): void;
};

/** Returns the functions of a file with this name. */
export function rememberedFile<Schema extends TSchema>(name: string, schema: Schema): RememberedFile<Schema> {
  return {
    read(dataDir) {
      try {
        const fact: unknown = JSON.parse(readFileSync(join(dataDir, name), 'utf8'));
        return Value.Check(schema, fact) ? fact : undefined;
      } catch {
        return undefined;
      }
    },
    write: (dataDir, fact) => writeFlushed(join(dataDir, name), `${JSON.stringify(fact)}\n`),
  };
}
