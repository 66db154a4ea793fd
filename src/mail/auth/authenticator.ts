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
import type { ReceivedMessage } from './authenticate.ts';
import { MessageReader } from './message-reader.ts';
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
  const threads = new KillableThreads<ReceivedMessage, AuthenticationResult>(clock, {
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
  const begin = createBegin({ clock, log }, (message, owner) => threads.run(message, { ...limits, owner }));
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
