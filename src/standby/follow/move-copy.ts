/** Moves a copy to where it is opened, and back after an error. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname } from 'node:path';
import { flushDirectory } from '../../db/flush-files.ts';
import { errorCode } from '../../system/errors.ts';

/** Moves a copy. On another file system, it is copied, and the copy stays until the promotion is complete. */
export async function moveCopy(from: string, to: string): Promise<void> {
  try {
    renameSync(from, to);
    await flushDirectory(dirname(from));
    await flushDirectory(dirname(to));
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    await cp(from, to, { recursive: true });
  }
}

/** Moves a copy back that was moved. One that was copied is removed there. */
export function moveBack(from: string, to: string): void {
  if (!existsSync(from)) return;
  if (existsSync(to)) rmSync(from, { recursive: true });
  else renameSync(from, to);
}
