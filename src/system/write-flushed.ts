/** Writes small files that must be complete after a power cut. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Replaces a file, whose owner and mode stay. A new file has mode 0600. The text is first written and flushed under
 * another name, and the rename is flushed too, so a crash leaves either the old file or the new one.
 */
export function writeFlushed(file: string, text: string): void {
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    copyOwnerAndMode(file, temporary);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(temporary, file);
  const directory = openSync(dirname(file), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/**
 * Gives the file `to`, which is about to replace `from`, its owner, group and mode: the user of the daemon must be able
 * to open what a command wrote as root. Nothing changes when there is no file `from`.
 */
export function copyOwnerAndMode(from: string, to: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (!old) return;
  // Only root can give a file away, and only root writes into a directory of another user.
  if (old.uid !== statSync(to).uid) chownSync(to, old.uid, old.gid);
  chmodSync(to, old.mode);
}
