/** A folder for everything a run writes, on the filesystem the daemon's data would be on, and the facts of the machine. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Workspace = {
  /** A new folder that other users may enter, as Postfix needs. */
  newFolder(name: string): string;
};

const DATA_DIRECTORY =
  process.env['POSTRIDER_DATA_DIR'] ?? fileURLToPath(new URL('../../data', import.meta.url));

/** The folder goes away with the process. */
export function openWorkspace(): Workspace & { root: string } {
  const root = mkdtempSync(join(parentFolder(), 'postrider-bench-'));
  chmodSync(root, 0o755);
  process.on('exit', () => rmSync(root, { recursive: true, force: true }));
  return {
    root,
    newFolder(name) {
      const folder = mkdtempSync(join(root, `${name}-`));
      chmodSync(folder, 0o755);
      return folder;
    },
  };
}

/** The data directory itself may be closed to the users Postfix runs as, so a temporary directory is preferred when it
 * is on the same filesystem. */
function parentFolder(): string {
  mkdirSync(DATA_DIRECTORY, { recursive: true });
  const device = statSync(DATA_DIRECTORY).dev;
  const candidates = ['/var/tmp', tmpdir()];
  const same = candidates.find((folder) => existsSync(folder) && statSync(folder).dev === device);
  return same ?? DATA_DIRECTORY;
}

/** One line each, for the head of the table. */
export function machineFacts(root: string): string[] {
  const model = cpus()[0]?.model ?? 'unknown processor';
  const gibibytes = (totalmem() / 2 ** 30).toFixed(0);
  return [
    `${availableParallelism()} cores (${model}), ${gibibytes} GiB, load average ${loadavg()[0]?.toFixed(2)} at the start`,
    `Node ${process.version}, ${filesystem(root)}, ${peerVersions()}`,
  ];
}

function filesystem(folder: string): string {
  const type = output('findmnt', ['-n', '-o', 'FSTYPE,SOURCE', '-T', folder]);
  return type === undefined ? 'filesystem unknown' : type.replace(/\s+/, ' on ');
}

function peerVersions(): string {
  const postfix = output('postconf', ['-d', '-h', 'mail_version']);
  const opendkim = output('opendkim', ['-V'])?.match(/OpenDKIM Filter v(\S+)/)?.[1];
  return `Postfix ${postfix ?? 'absent'}, OpenDKIM ${opendkim ?? 'absent'}`;
}

function output(program: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
