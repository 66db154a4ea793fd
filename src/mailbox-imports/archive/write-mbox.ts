/**
 * Writes a file in mbox format for each folder, quoted in the manner of mboxrd. A folder `Lists/dev` is `Lists/dev.mbox`. Each file
 * ends with a whole message: what comes after its last flush is cut off before more is added.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushDirectory } from '../../db/flush-files.ts';
import { fileOfFolder, formatFromLine, formatStatusFields, quotesOf, readLines } from './mbox-format.ts';
import { type ArchiveWriter, DIRECTORY_MODE, FILE_MODE, type WrittenMessage, withLf } from './write.ts';

/** Sizes of the files in bytes, by folder, as far as they are complete. */
export type MboxSizes = Map<string, number>;

/** Opens the files in a directory, which need not exist yet. `sizes` is changed by `flush`. */
export function createMboxWriter(root: string, sizes: MboxSizes): ArchiveWriter {
  let current: { folder: string; path: string; file: FileHandle; sizeBytes: number } | undefined;

  async function fileOf(folder: string) {
    if (current?.folder === folder) return current;
    await flush();
    await close();
    const path = join(root, fileOfFolder(folder));
    await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
    const file = await open(path, 'a', FILE_MODE);
    const sizeBytes = sizes.get(folder) ?? 0;
    await file.truncate(sizeBytes);
    current = { folder, path, file, sizeBytes };
    return current;
  }

  async function flush(): Promise<void> {
    if (!current) return;
    await current.file.datasync();
    await flushDirectory(dirname(current.path));
    sizes.set(current.folder, current.sizeBytes);
  }

  async function close(): Promise<void> {
    await current?.file.close();
    current = undefined;
  }

  return {
    async add(message) {
      const to = await fileOf(message.folder);
      for await (const piece of format(message)) {
        await to.file.writeFile(piece);
        to.sizeBytes += piece.length;
      }
    },
    flush,
    close,
  };
}

async function* format({ sender, receivedAt, flags, content }: WrittenMessage): AsyncGenerator<Buffer> {
  yield Buffer.from(`${formatFromLine(sender, receivedAt)}${formatStatusFields(flags)}`);
  let endsWithLf = true;
  for await (const lines of readLines(withLf(content))) {
    const quoted = lines.flatMap(({ bytes, isStart }) =>
      isStart && quotesOf(bytes) !== undefined ? [QUOTE, bytes] : [bytes],
    );
    const piece = Buffer.concat(quoted);
    endsWithLf = piece.at(-1) === LF;
    yield piece;
  }
  yield Buffer.from(endsWithLf ? '\n' : '\n\n');
}

const QUOTE = Buffer.from('>');
const LF = 0x0a;
