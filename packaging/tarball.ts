/** Packs a folder, in the same bytes each time. */
import { execFileSync } from 'node:child_process';
import { basename, dirname } from 'node:path';

/** Writes the folder, under its own name, to a compressed tarball. `epoch` is the time of its files, in Unix seconds. */
export function writeTarball(folder: string, file: string, epoch: number): void {
  execFileSync('tar', [
    ...['--create', '--file', file, '--use-compress-program', 'gzip --no-name', '--format', 'gnu'],
    ...['--sort', 'name', '--mtime', `@${epoch}`, '--owner', '0', '--group', '0', '--numeric-owner'],
    ...['--directory', dirname(folder), basename(folder)],
  ]);
}
