import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directories: string[] = [];
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** A directory of a test's own, gone when its process ends, however the test does. */
export function temporaryDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `postrider-${name}-`));
  directories.push(directory);
  return directory;
}
