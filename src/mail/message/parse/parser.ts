/**
 * Parses messages that strangers wrote. A small hostile message can keep a parser busy for minutes, so parsing runs in threads that
 * are terminated after a time limit, and tenants are served round-robin. A message that cannot be parsed in time is opaque: its
 * header is read here, in linear time, and its bytes remain as they are.
 */

import type { JobOptions } from '../../../system/killable-threads/options.ts';
import { KillableThreads } from '../../../system/killable-threads.ts';
import type { System } from '../../../system/system.ts';
import { moduleBeside } from '../../../system/thread.ts';
import { MAX_HEADER_BYTES } from '../../header-limits.ts';
import type { HtmlText } from '../html-text.ts';
import type { WantedContent } from './files.ts';
import { type HeaderField, readHeaderFields } from './header-fields.ts';
import type { ParsedMessage, ReadJob } from './read-message.ts';

/** The bytes of a message, as `blobs` opens them. */
type MessageBytes = { sizeBytes: number; chunks(): AsyncIterable<Uint8Array> };

/** A message and its parts, or the header alone of a message that cannot be parsed. */
export type MessageContent =
  | ({ kind: 'parsed' } & Omit<ParsedMessage, 'isTextComplete'>)
  | { kind: 'opaque'; fields: HeaderField[] };

type Parsing = {
  /** The tenant of the message. Tenants are served round-robin. */
  owner: string;
  /** The files whose bytes are wanted. */
  content: WantedContent;
};

export type MessageParser = {
  /**
   * Parses a message. Its text is generated from the HTML when a part of it has no other form.
   * @throws MessagesWaitError when the threads are busy; any error of reading the bytes
   */
  parse(message: MessageBytes, parsing: Parsing): Promise<MessageContent>;
  /** Ends the threads. */
  close(): Promise<void>;
};

/** Reports that a message was not parsed because others were waiting. A later attempt may succeed. */
export class MessagesWaitError extends Error {
  override readonly name = 'MessagesWaitError';
}

/** Maximum time of one message. One with 25 MB of files takes about 0.5 s. */
export const JOB_TIMEOUT_MS = 2_000;
/** Maximum time that a message waits for a thread. It covers several messages of other tenants that run into their time limit. */
const WAIT_TIMEOUT_MS = 10_000;

/** Returns the parser, with its own threads. */
export function createMessageParser(
  { clock, log }: Pick<System, 'clock' | 'log'>,
  htmlText: Pick<HtmlText, 'convert'>,
): MessageParser {
  const threads = new KillableThreads<ReadJob, ParsedMessage>(clock, {
    module: moduleBeside(import.meta.url, 'parse-thread'),
    // Number of threads: two, so that one hostile message does not delay all others.
    threads: 2,
    // Maximum number of waiting messages of one tenant. Their callers bound the bytes.
    maxWaiting: 256,
    // Time below which a message counts as quick. One with a megabyte of files takes less.
    quickJobMs: 150,
    // Heap limit of a thread. A message of 10 MB of text needs 100 MB; the bytes of files are not in the heap.
    heapMegabytes: 192,
  });
  return {
    async parse(bytes, { owner, content }) {
      const message = await readAll(bytes);
      const head = Buffer.from(message.subarray(0, MAX_HEADER_BYTES + 1));
      const job: JobOptions = { owner, timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
      const outcome = await threads.run({ message, content }, { ...job, transfer: [message.buffer] });
      if (outcome.kind === 'done') return withText(outcome.result, owner);
      const { reason, message: cause } = outcome;
      if (reason === 'crowded' || reason === 'closed') throw new MessagesWaitError(cause);
      log.warn({ reason, cause, sizeBytes: bytes.sizeBytes }, 'a message could not be parsed');
      return { kind: 'opaque', fields: fieldsOf(head) };
    },
    close: () => threads.close(),
  };

  async function withText(
    { isTextComplete, ...parsed }: ParsedMessage,
    owner: string,
  ): Promise<MessageContent> {
    if (isTextComplete || parsed.html === '') return { kind: 'parsed', ...parsed };
    const { text } = await htmlText.convert(parsed.html, owner);
    return { kind: 'parsed', ...parsed, text };
  }
}

/** Returns all bytes, in memory that can move to another thread. */
async function readAll({ sizeBytes, chunks }: MessageBytes): Promise<Uint8Array<ArrayBuffer>> {
  const message = new Uint8Array(sizeBytes);
  let at = 0;
  for await (const chunk of chunks()) {
    message.set(chunk, at);
    at += chunk.length;
  }
  return message;
}

/** Returns the fields of a header; none when it is too large to be read. */
function fieldsOf(head: Uint8Array): HeaderField[] {
  try {
    return readHeaderFields(head);
  } catch {
    return [];
  }
}
