/**
 * Replaces `generateKeyPair` for DKIM keys. An RSA key costs 45 ms of CPU time and hundreds of tests add a domain, so a
 * process generates a few keys and then hands them out again in turn. The hook in one-file-hook.ts makes
 * src/mail/dkim/key.ts import this function.
 */
import { generateKeyPair as generate } from 'node:crypto';

type Options = Parameters<typeof generate>[1];
type Done = (error: Error | null, publicKey: unknown, privateKey: unknown) => void;
type Pair = { publicKey: unknown; privateKey: unknown };

/** More domains than any test compares the keys of. */
const KEPT_KEYS = 8;

const keys: Promise<Pair>[] = [];
let requests = 0;

/** Calls `done` with the next of the kept keys. Keys that follow each other differ. */
export function generateKeyPair(type: 'rsa', options: Options, done: Done): void {
  const place = requests++ % KEPT_KEYS;
  const key = keys[place] ?? newKey(type, options);
  keys[place] = key;
  key.then(
    ({ publicKey, privateKey }) => done(null, publicKey, privateKey),
    (error) => done(error, undefined, undefined),
  );
}

function newKey(type: 'rsa', options: Options): Promise<Pair> {
  return new Promise((resolve, reject) => {
    const done: Done = (error, publicKey, privateKey) =>
      error ? reject(error) : resolve({ publicKey, privateKey });
    (generate as (type: string, options: Options, done: Done) => void)(type, options, done);
  });
}
