/**
 * Authenticates messages that come in. The pieces of a message are read where they arrive: the header is kept and the
 * body is hashed, so nothing waits in a thread while a slow client sends. What is left, with all lookups and all parsing,
 * is one job of a thread that is ended when it takes too long.
 */
import { createByteBudget } from '../../system/guards/byte-budget.ts';
import type { ThreadOutcome } from '../../system/killable-threads/serve.ts';
import { KillableThreads } from '../../system/killable-threads.ts';
import type { System } from '../../system/system.ts';
import { moduleBeside } from '../../system/thread.ts';
import { BodyHasher, type BodyHashes } from '../dkim/verify/body-hashes.ts';
import { fieldValue, splitFields } from '../dkim/verify/header-fields.ts';
import { type Canonicalization, namedBodyCanonicalization } from '../dkim/verify/signature.ts';
import { MAX_HEADER_BYTES } from '../header-limits.ts';
import { asBuffer } from '../smtp/body.ts';
import type { ReceivedMessage } from './authenticate.ts';
import { type AuthenticationResult, undecided } from './result.ts';

type AuthenticationInput = {
  /** Owner of the message, such as the network of the client. Owners are served round-robin. */
  owner: string;
  /** Address of the client. */
  address: string;
  /** Name that the client gave in EHLO or HELO. */
  helo: string;
  /** Address of MAIL FROM; empty for the null sender. */
  sender: string;
  /** Host name of this installation. */
  hostname: string;
};

export type Authenticator = {
  /** Begins to read a message. The caller calls either `finish` or `abort` of what it returns. */
  begin(input: AuthenticationInput): Authentication;
  /** Ends the threads. Messages that are being authenticated are undecided. */
  close(): Promise<void>;
};

type Authentication = {
  /** Takes the next piece of the message, whose lines end with CRLF. The piece is not kept. */
  write(piece: Uint8Array): void;
  /** Returns the results. It never rejects, and takes at most `AUTHENTICATION_TIMEOUT_MS`. */
  finish(): Promise<AuthenticationResult>;
  /** Ends the reading of a message that does not arrive. */
  abort(): void;
};

/** The values that a thread starts with. */
export type AuthThreadData = { dnsServers: readonly string[]; trustedRelays: readonly string[] };

/** Runs one message. It never rejects. */
type RunMessage = (message: ReceivedMessage, owner: string) => Promise<ThreadOutcome<AuthenticationResult>>;

/** Maximum time of a message in its thread: the time of its lookups, and some more for the rest. */
const JOB_TIMEOUT_MS = 9_000;
/** Maximum time for which a message waits for a thread, which takes a second to start, and longer on a busy machine. */
const WAIT_TIMEOUT_MS = 9_000;
/** Maximum time of `finish`, in milliseconds, after which all that is not known is `temperror`. */
export const AUTHENTICATION_TIMEOUT_MS = 10_000;
/** Memory for the headers of all messages that are being read. One owner has half of it. */
const MAX_HEADERS_BYTES = 64 * 1024 * 1024;

/** Returns the authenticator, with its own threads. The threads start when they are first needed. */
export function createAuthenticator(
  { clock, log }: Pick<System, 'clock' | 'log'>,
  data: AuthThreadData,
): Authenticator {
  const threads = new KillableThreads<ReceivedMessage, string>(clock, {
    module: moduleBeside(import.meta.url, 'auth-thread'),
    data,
    // Two threads, so that one hostile message does not stop all others.
    threads: 2,
    // Maximum number of messages that wait for DNS in one thread at a time.
    jobsPerThread: 128,
    // Maximum number of waiting messages of one owner.
    maxWaiting: 1_000,
    // Idle time after which a thread ends. Its caches are worth keeping for a while.
    idleTimeoutMs: 10 * 60_000,
    // Owners whose messages take longer, because their DNS is slow, leave a thread to the others.
    quickJobMs: 3_000,
    // Heap limit of a thread in MB. The library takes 40, the caches at most 40, and the headers of 128 messages 32.
    heapMegabytes: 192,
  });
  const limits = { timeoutMs: JOB_TIMEOUT_MS, waitTimeoutMs: WAIT_TIMEOUT_MS };
  const begin = createBegin({ clock, log }, async (message, owner) => {
    const outcome = await threads.run(message, { ...limits, owner });
    return outcome.kind === 'done' ? { kind: 'done', result: JSON.parse(outcome.result) } : outcome;
  });
  return { begin, close: () => threads.close() };
}

/** Returns the function that reads messages and has `run` authenticate them. */
export function createBegin(
  { clock, log }: Pick<System, 'clock' | 'log'>,
  run: RunMessage,
): Authenticator['begin'] {
  const budget = createByteBudget({ largeBytes: MAX_HEADERS_BYTES, smallBytes: 0 });
  const warn = createWarning({ clock, log });
  return ({ owner, ...client }) => {
    const memory = budget.open(owner);
    let hadMemory = true;
    const reader = new MessageReader((bytes) => {
      hadMemory = memory.take(bytes);
      return hadMemory;
    });
    const finish = async (): Promise<AuthenticationResult> => {
      const { header, bodyHashes } = reader.finish();
      if (!hadMemory) return undecided(client.address, 'too many messages are being read');
      if (!header) return tooLong(client.address);
      const outcome = await withinTime(clock, run({ ...client, header, bodyHashes }, owner));
      if (outcome.kind === 'done') return outcome.result;
      warn({ reason: outcome.reason, cause: outcome.message });
      return undecided(client.address, 'the message could not be authenticated in time');
    };
    return {
      write: (piece) => reader.write(piece),
      finish: () => finish().finally(() => memory.release()),
      abort: () => memory.release(),
    };
  };
}

/** Minimum time between two warnings, so that many hostile messages do not flood the log. */
const WARNING_PERIOD_MS = 60_000;

/** Returns the function that logs a warning, unless the last one was a moment ago; the next one has the number of those. */
function createWarning({ clock, log }: Pick<System, 'clock' | 'log'>) {
  let nextAt = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (fields: { reason: string; cause: string }): void => {
    count += 1;
    if (clock.elapsed() < nextAt) return;
    log.warn({ ...fields, count }, 'messages could not be authenticated');
    nextAt = clock.elapsed() + WARNING_PERIOD_MS;
    count = 0;
  };
}

/** A header that is too long names no author, so the message is refused like any other without one. */
function tooLong(address: string): AuthenticationResult {
  const reason = 'the header is too long';
  return {
    ...undecided(address, reason),
    dmarc: { result: 'permerror', policy: undefined, domain: '', reason },
  };
}

function withinTime(
  clock: System['clock'],
  work: Promise<ThreadOutcome<AuthenticationResult>>,
): Promise<ThreadOutcome<AuthenticationResult>> {
  return new Promise((resolve) => {
    const message = `it took longer than ${AUTHENTICATION_TIMEOUT_MS} ms`;
    const timer = clock.after(AUTHENTICATION_TIMEOUT_MS, () =>
      resolve({ kind: 'failed', reason: 'overran', message }),
    );
    void work.then((outcome) => {
      timer.cancel();
      resolve(outcome);
    });
  });
}

/**
 * Reads a message that comes in: keeps its header and hashes its body. Its lines end with CRLF, as they are stored: if a bare LF
 * ended a line for one reader only, a stored field could be outside of all signatures.
 */

/** Maximum number of signature fields whose canonical form is read: all that are verified are among them. */
const MAX_SIGNATURE_FIELDS = 2_000;
const SIGNATURE_NAMES: readonly string[] = ['dkim-signature', 'arc-message-signature'];
const SIGNATURE_FIELD = /dkim-signature|arc-message-signature/i;
const LINE_END = Buffer.from('\r\n', 'latin1');
const HEADER_END = Buffer.from('\r\n\r\n', 'latin1');

type ReadMessage = {
  /** The header with the empty line after it; undefined when it is too long, or did not fit into memory. */
  header: Buffer | undefined;
  bodyHashes: BodyHashes;
};

/** Takes the pieces of one message, whose lines end with CRLF. They are cut anywhere. */
export class MessageReader {
  readonly #reserve: (bytes: number) => boolean;
  #header: Buffer = Buffer.alloc(0);
  #headerBytes = 0;
  #state: 'header' | 'body' | 'unreadable' = 'header';
  #body: BodyHasher | undefined;

  /** `reserve` is called before memory for the header is taken, with its size in bytes. */
  constructor(reserve: (bytes: number) => boolean) {
    this.#reserve = reserve;
  }

  write(piece: Uint8Array): void {
    const isIgnored = this.#state === 'unreadable' || (this.#state === 'body' && !this.#body);
    if (isIgnored || piece.length === 0) return;
    const text = asBuffer(piece);
    if (this.#state === 'body') this.#body?.update(text);
    else this.#takeHeader(text);
  }

  /** Returns what was read. The caller calls it once, at the end. */
  finish(): ReadMessage {
    if (this.#state === 'header') this.#beginBody();
    if (this.#state === 'unreadable') return { header: undefined, bodyHashes: {} };
    return { header: this.#header.subarray(0, this.#headerBytes), bodyHashes: this.#body?.finish() ?? {} };
  }

  #takeHeader(text: Buffer): void {
    const end = this.#findEnd(text);
    if (!this.#append(text.subarray(0, end))) {
      this.#state = 'unreadable';
      this.#header = Buffer.alloc(0);
      return;
    }
    if (end === undefined) return;
    this.#beginBody();
    this.#body?.update(text.subarray(end));
  }

  /** Returns the offset of the body in a piece: what follows the empty line. A message may begin with its empty line. */
  #findEnd(text: Buffer): number | undefined {
    const from = Math.max(this.#headerBytes - HEADER_END.length + 1, 0);
    const before = this.#headerBytes === 0 ? LINE_END : this.#header.subarray(from, this.#headerBytes);
    const overlap = Buffer.concat([before, text.subarray(0, HEADER_END.length - 1)]).indexOf(HEADER_END);
    if (overlap >= 0) return overlap + HEADER_END.length - before.length;
    const found = text.indexOf(HEADER_END);
    return found < 0 ? undefined : found + HEADER_END.length;
  }

  /** Adds to the header. Returns false when it becomes too long. */
  #append(text: Buffer): boolean {
    const bytes = this.#headerBytes + text.length;
    if (bytes > MAX_HEADER_BYTES) return false;
    if (bytes > this.#header.length) {
      const newBytes = Math.min(Math.max(bytes, 2 * this.#header.length), MAX_HEADER_BYTES);
      if (!this.#reserve(newBytes - this.#header.length)) return false;
      const larger = Buffer.allocUnsafeSlow(newBytes);
      this.#header.copy(larger, 0, 0, this.#headerBytes);
      this.#header = larger;
    }
    text.copy(this.#header, this.#headerBytes);
    this.#headerBytes = bytes;
    return true;
  }

  #beginBody(): void {
    this.#state = 'body';
    const forms = usedForms(this.#header.toString('latin1', 0, this.#headerBytes));
    if (forms.size > 0) this.#body = new BodyHasher(forms);
  }
}

/** Returns the canonical forms of the body that the signatures in a header use. */
function usedForms(header: string): Set<Canonicalization> {
  if (!SIGNATURE_FIELD.test(header)) return new Set();
  const signatures = splitFields(header).filter(({ name }) => SIGNATURE_NAMES.includes(name));
  return new Set(
    signatures.slice(0, MAX_SIGNATURE_FIELDS).map((field) => namedBodyCanonicalization(fieldValue(field))),
  );
}
