/** Temporary directories of tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const directories: string[] = [];
process.once('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

/** Creates a directory for a test. It is removed when the process ends, whether the test passes or fails. */
export function temporaryDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `postrider-${name}-`));
  directories.push(directory);
  return directory;
}
