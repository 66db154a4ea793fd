/** Encodes attachments and files as they are read, so that a large one is held once, in the form that is sent. */
import { invalidArgument, PostriderError } from './errors.ts';

/** Bytes that are read once, from where they are. */
export type Bytes = Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
/** Content of an attachment: base64 in a string, as on the wire, or bytes, a file or a stream. */
export type AttachmentContent = string | Bytes;
/** A file to upload: text, bytes, a file or a stream. */
export type FileContent = string | Bytes;

/** A body whose size is known, and which is made anew for each try. A blob is one, and one is made while it is sent. */
export type Streamed = { readonly size: number; stream(): ReadableStream<Uint8Array> };
/** Bytes that can be read more than once. */
type Source = Uint8Array | Blob;

/** Bytes that are put into one part of a body. Multiples of 3 need no padding between parts. */
const PART_BYTES = 3 * 64 * 1024;
/** Bodies from this size on are encoded while they are sent, where the runtime can send a stream. Others know their length. */
const MIN_STREAMED_BYTES = 1024 * 1024;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const CODES = new TextEncoder().encode(ALPHABET);
const PADDING = 61;

/** What of an email this file knows. */
type WithAttachments = { attachments?: readonly { content?: AttachmentContent }[] };

/** Returns the JSON of a body. */
export function encodeJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw invalidArgument('The body cannot be written as JSON.', cause);
  }
}

/** Returns the JSON of a body with emails. Attachments that have to be encoded are held as they are, and encoded for each try. */
export async function encodeEmails<T extends WithAttachments>(
  emails: readonly T[],
  toBody: (emails: readonly T[]) => unknown,
): Promise<string | Streamed> {
  if (!isList(emails)) return encodeJson(toBody(emails));
  const contents: Bytes[] = [];
  // The mark of a content is a word that nobody can know, so that no text of an email is taken for it.
  const mark = `:${random()}:`;
  const take = (content: AttachmentContent | undefined) =>
    isBytes(content) ? { content: contents.push(content) > 0 ? mark : '' } : {};
  const marked = emails.map((email) =>
    Array.isArray(email?.attachments)
      ? { ...email, attachments: email.attachments.map((one) => ({ ...one, ...take(one?.content) })) }
      : email,
  );
  const json = encodeJson(toBody(marked));
  if (contents.length === 0) return json;
  const parts: (string | Source)[] = [];
  for (const [index, text] of json.split(mark).entries()) {
    const content = contents[index];
    parts.push(text);
    if (content !== undefined) parts.push(await sourceOf(content));
  }
  return bodyOf(parts);
}

async function bodyOf(parts: readonly (string | Source)[]): Promise<Streamed> {
  const sizes = parts.map((part) =>
    typeof part === 'string' ? part.length : 4 * Math.ceil(('size' in part ? part.size : part.length) / 3),
  );
  const size = sizes.reduce((sum, one) => sum + one, 0);
  if (size >= MIN_STREAMED_BYTES && canSendStreams()) return { size, stream: () => streamOf(encoded(parts)) };
  return new Blob(await collected(encoded(parts)));
}

/** Says whether requests may have streams: browsers send them over HTTP/2 alone, or not at all. */
function canSendStreams(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

async function* encoded(parts: readonly (string | Source)[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const part of parts) {
    if (typeof part === 'string') yield new TextEncoder().encode(part);
    else for await (const bytes of inParts(part)) yield encodeBase64(bytes);
  }
}

/** Makes a stream readable again by reading it to its end. */
async function sourceOf(content: Bytes): Promise<Source> {
  if (content instanceof Uint8Array || content instanceof Blob) return content;
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  return new Blob(await collected(inParts(content)));
}

/** A blob copies what it is made of, and may hold it elsewhere than the program does. */
async function collected(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>): Promise<Blob[]> {
  const blobs: Blob[] = [];
  for await (const chunk of chunks) blobs.push(new Blob([chunk]));
  return blobs;
}

function streamOf(chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(stream) {
        const { done, value } = await chunks.next();
        if (done) stream.close();
        else stream.enqueue(value);
      },
      async cancel() {
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Narrows lists that may not be changed, which `Array.isArray` does not. */
function isList<T>(value: readonly T[]): boolean {
  return Array.isArray(value);
}

/** Returns the body of an upload. A stream is read to its end, because the request may have to be repeated. */
export async function encodeFile(file: FileContent): Promise<string | Blob> {
  if (typeof file === 'string' || file instanceof Blob) return file;
  if (!isBytes(file)) throw invalidArgument('A file is a string, bytes, a Blob or a stream.');
  return new Blob(await collected(inParts(file)));
}

function isBytes(value: unknown): value is Bytes {
  return (
    typeof value === 'object' &&
    value !== null &&
    (value instanceof Uint8Array ||
      value instanceof ArrayBuffer ||
      value instanceof Blob ||
      value instanceof ReadableStream ||
      Symbol.asyncIterator in value)
  );
}

/** Yields the bytes in parts of one length; the last one may be shorter. All parts are in one buffer, which the next part overwrites. */
async function* inParts(content: Bytes): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    yield* joined(content);
  } catch (cause) {
    if (cause instanceof PostriderError) throw cause;
    throw invalidArgument('A file or an attachment could not be read to its end.', cause);
  }
}

async function* joined(content: Bytes): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(PART_BYTES);
  let size = 0;
  for await (const chunk of chunksOf(content)) {
    if (!(chunk instanceof Uint8Array)) throw invalidArgument('A stream has to yield Uint8Arrays.');
    for (let at = 0; at < chunk.length; ) {
      const taken = Math.min(chunk.length - at, PART_BYTES - size);
      part.set(chunk.subarray(at, at + taken), size);
      at += taken;
      size += taken;
      if (size < PART_BYTES) continue;
      yield part;
      size = 0;
    }
  }
  if (size > 0) yield part.subarray(0, size);
}

async function* chunksOf(content: Bytes): AsyncGenerator<Uint8Array> {
  if (content instanceof Uint8Array) yield content;
  else if (content instanceof ArrayBuffer) yield new Uint8Array(content);
  else if (content instanceof Blob) yield* read(content.stream());
  else if (content instanceof ReadableStream) yield* read(content);
  else yield* content;
}

/** Reads a stream without its iterator, which some browsers lack. */
export async function* read(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let isDone = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      isDone = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!isDone) reader.cancel().catch(() => undefined);
  }
}

/** Encodes bytes as base64 (RFC 4648 section 4). Global functions take only strings, which would hold a file four times. */
export function encodeBase64(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(4 * Math.ceil(bytes.length / 3));
  const code = (value: number) => CODES[value & 63] ?? 0;
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const word = ((bytes[i] ?? 0) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    out[at++] = code(word >> 18);
    out[at++] = code(word >> 12);
    out[at++] = code(word >> 6);
    out[at++] = code(word);
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  if (missing > 0) out.fill(PADDING, out.length - missing);
  return out;
}

/** Returns 128 random bits. `crypto.randomUUID` is missing in pages without https. */
export function random(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
