/** A directory of a test's own, gone when its process ends, however the test does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function temporaryDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `postrider-${name}-`));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
