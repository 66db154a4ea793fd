/** Finds the program `node` for an architecture, with its licence. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

export type Architecture = 'x64' | 'arm64';

const ROOT = join(import.meta.dirname, '..');
const CACHE = join(ROOT, 'node_modules/.cache/packaging');

type Lock = { packages: Record<string, { version: string; integrity: string }> };

/**
 * Returns the folder of the package that contains Node. npm installs that of this machine; another is fetched once.
 * @throws Error when what npm fetched differs from package-lock.json
 */
export function nodePackage(architecture: Architecture): string {
  const name = `node-linux-${architecture}`;
  const installed = join(ROOT, 'node_modules', name);
  if (existsSync(installed)) return installed;
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const entry = lock.packages[`node_modules/${name}`];
  if (!entry) throw new Error(`package-lock.json does not name ${name}`);
  const fetched = join(CACHE, `${name}-${entry.version}`);
  if (!existsSync(fetched)) fetchPackage(`${name}@${entry.version}`, entry.integrity, fetched);
  return fetched;
}

function fetchPackage(wanted: string, integrity: string, folder: string): void {
  mkdirSync(CACHE, { recursive: true });
  const making = mkdtempSync(join(CACHE, 'fetch-'));
  try {
    const [packed] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--pack-destination', making, wanted], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    ) as [{ filename: string }];
    const file = join(making, packed.filename);
    const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (hash !== integrity) throw new Error(`${wanted} is not the package that package-lock.json names`);
    execFileSync('tar', ['--extract', '--file', file, '--directory', making]);
    renameSync(join(making, 'package'), folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}
