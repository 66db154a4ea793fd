/**
 * Hashes passwords with Argon2id (RFC 9106), and compares them with a hash. A hash takes 30 ms of CPU and 19 MiB, so this process
 * computes at most two at a time: the others wait, round-robin by who asked for them.
 */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { AppError } from '../../system/errors.ts';

/** Parameters of a hash: memory in KiB, passes over it, and lanes. */
type Cost = { memory: number; passes: number; parallelism: number };

/** The parameters of new hashes: OWASP's minimum for Argon2id. */
const COST: Cost = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

/** Maximum number of hashes that are computed at a time. They run in the thread pool, which also reads and writes files. */
const MAX_HASHES = 2;
/** Maximum number of hashes that wait: they take about 30 seconds, and a client waits for a minute. */
const MAX_WAITING = 2_000;

const limiter = new ConcurrencyLimiter({ maxRunning: MAX_HASHES, maxWaiting: MAX_WAITING });

type Parsed = Cost & { salt: Buffer; hash: Buffer };

/** Version 1.3 of Argon2 in the PHC string format, which other programs read too. */
const FORMAT = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/**
 * Returns the hash of a password with a new salt, as text that names its parameters.
 * @param owner the tenant who waits for it
 * @throws AppError unavailable when too many hashes wait
 */
export async function hashPassword(password: string, owner: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await hashQueued(owner, () => compute(password, { ...COST, salt, bytes: HASH_BYTES }));
  return format({ ...COST, salt, hash });
}

/**
 * Runs a slow computation of a new password when its turn among all hashes has come.
 * @param owner the tenant who waits for it
 * @throws AppError unavailable when too many hashes wait; the errors of the computation
 */
export async function hashQueued<Result>(owner: string, run: () => Promise<Result>): Promise<Result> {
  const running = limiter.tryRun(run, { owner });
  if (running !== undefined) return await running;
  throw new AppError('unavailable', 'Many passwords are being hashed; try again in a few seconds', {
    retryAfterSeconds: 5,
  });
}

type Comparison = {
  /** Name of the client who waits for the comparison. */
  owner: string;
  /** Returns false when the comparison may not take place any more. It is asked when the turn of the comparison has come. */
  mayStart: () => boolean;
  /** Is called when the password does not match, before another comparison may start. */
  onMismatch: () => void;
};

/**
 * Compares a password with a hash. Text that is not a hash costs as much as one, and no password matches it.
 * @returns whether they match; `not-started` when it was not allowed to start; `busy` when too many hashes wait
 */
export async function verifyPassword(
  password: string,
  hash: string,
  { owner, mayStart, onMismatch }: Comparison,
): Promise<boolean | 'not-started' | 'busy'> {
  const running = limiter.tryRun(
    async () => {
      if (!mayStart()) return 'not-started';
      const matches = await isHashOf(password, parse(hash));
      if (!matches) onMismatch();
      return matches;
    },
    { owner },
  );
  return running ?? 'busy';
}

/** Stands for the hash of a mailbox that does not exist. */
const UNKNOWN: Parsed = { ...COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };

async function isHashOf(password: string, expected: Parsed | undefined): Promise<boolean> {
  const { hash, ...parameters } = expected ?? UNKNOWN;
  const actual = await compute(password, { ...parameters, bytes: hash.length });
  return timingSafeEqual(actual, hash) && expected !== undefined;
}

function compute(
  password: string,
  { memory, passes, parallelism, salt, bytes }: Cost & { salt: Buffer; bytes: number },
): Promise<Buffer> {
  const parameters = { message: password, nonce: salt, memory, passes, parallelism, tagLength: bytes };
  return new Promise((resolve, reject) => {
    argon2('argon2id', parameters, (error, hash) => (error ? reject(error) : resolve(hash)));
  });
}

function format({ memory, passes, parallelism, salt, hash }: Parsed): string {
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`;
}

function parse(text: string): Parsed | undefined {
  const [, memory, passes, parallelism, salt = '', hash = ''] = FORMAT.exec(text) ?? [];
  if (memory === undefined) return undefined;
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  };
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
