/** Builds the packages for the tests: each once, as `npm run package` does. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../../support/daemon.ts';

const CHECKOUT = join(import.meta.dirname, '../../..');
/** The folder that the tests keep for the next run on this machine. */
export const CACHE = join(CHECKOUT, 'node_modules/.cache/packaging');

type Options = { arch: 'x64' | 'arm64'; kind: 'tarball' | 'deb'; revision?: string };

/** Builds a package in a folder of its own, and returns its file. */
export function buildPackage({ arch, kind, revision = '1' }: Options): string {
  const output = temporaryDirectory('packages');
  const printed = execFileSync(
    process.execPath,
    [
      join(CHECKOUT, 'packaging/main.ts'),
      ...['--arch', arch, '--kind', kind, '--revision', revision, '--output', output],
    ],
    { cwd: CHECKOUT, encoding: 'utf8' },
  );
  return printed.replace(/ \(\d+ MB\)\n$/, '');
}

/** Returns the hash of a file. */
export function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
