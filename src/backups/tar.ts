/** Tar archives as streams of bytes, so that the memory is bounded whatever the sizes of the files are. */
import { createTarDecoder, createTarPacker, type ParsedTarEntry, type TarPackController } from 'modern-tar';

/** A file of an archive. `bytes` yields as many bytes as `size` says, in memory that nobody changes afterwards. */
type TarFile = {
  name: string;
  size: number;
  mtime?: Date;
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
};

/** Adds a file to an archive. The next one is added once it has resolved. */
export type AddFile = (file: TarFile) => Promise<void>;

/**
 * Yields the archive of the files that a function adds.
 * @throws the error of that function
 */
export async function* writeTar(fill: (add: AddFile) => Promise<void>): AsyncGenerator<Uint8Array> {
  const { readable, controller } = createTarPacker();
  // An error ends the archive, which would otherwise wait for the file that cannot be read.
  fill((file) => addFile(controller, file)).then(
    () => controller.finalize(),
    (error: unknown) => controller.error(error),
  );
  yield* readable;
}

async function addFile(
  archive: TarPackController,
  { name, size, mtime = new Date(0), bytes }: TarFile,
): Promise<void> {
  const writer = archive.add({ name, type: 'file', size, mtime, mode: 0o600 }).getWriter();
  // The writes below report an error of the archive.
  writer.closed.catch(() => {});
  for await (const piece of bytes) await writer.write(piece);
  await writer.close();
}

/**
 * Returns the entries of an archive. Each body is read to its end, or cancelled, before the next entry arrives.
 * @throws Error when the archive is damaged or cut off; the error of the stream
 */
export function readTar(archive: AsyncIterable<Uint8Array>): ReadableStream<ParsedTarEntry> {
  return streamOf(archive).pipeThrough(createTarDecoder({ strict: true }));
}

function streamOf(bytes: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const source = bytes[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const next = await source.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await source.return?.();
    },
  });
}
