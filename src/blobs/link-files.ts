/** Gives all files of an owner a second name in another folder, where they stay when the owner removes its own. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { flushDirectory } from '../db/flush-files.ts';
import { FILE_FOLDER, linkOrCopy, listFolder } from './files.ts';

/** Number of files that are linked at the same time. */
const CONCURRENT_LINKS = 16;

/** Is called with each file that has its second name. */
export type OnLinked = (file: { sha256: string; path: string }) => void;

/**
 * Links the files of the folder `root` into the folder `to`, which has the same form. Files are copied where they cannot be
 * linked. The result is durable. The caller sees to it that no file is removed meanwhile.
 */
export async function linkFiles(root: string, to: string, onLinked: OnLinked): Promise<void> {
  const folders = (await listFolder(root)).filter((name) => FILE_FOLDER.test(name));
  if (folders.length === 0) return;
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const folder of folders) {
    const target = join(to, folder);
    await mkdir(target, { recursive: true, mode: 0o700 });
    const names = await listFolder(join(root, folder));
    await Promise.all(
      Array.from({ length: CONCURRENT_LINKS }, async () => {
        for (let name = names.pop(); name !== undefined; name = names.pop()) {
          const path = join(target, name);
          await linkOrCopy(join(root, folder, name), path);
          onLinked({ sha256: name, path });
        }
      }),
    );
    await flushDirectory(target);
  }
  await flushDirectory(to);
}
