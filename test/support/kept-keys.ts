/**
 * Replaces `generateKeyPair` for DKIM keys and for the keys of certificates. An RSA key costs 45 ms of CPU time and
 * hundreds of tests need one, so a process generates a few keys and then hands them out again in turn. The hook in
 * one-file-hook.ts makes src/mail/dkim/key.ts and src/certificates/new-key.ts import this function.
 */
import { generateKeyPair as generate } from 'node:crypto';

type Options = Parameters<typeof generate>[1];
type Done = (error: Error | null, publicKey: unknown, privateKey: unknown) => void;
type Pair = { publicKey: unknown; privateKey: unknown };

/** More domains than any test compares the keys of. */
const KEPT_KEYS = 8;

/** The keys of one kind, such as RSA with 2,048 bits, whose public half is in DER. */
type Kind = { keys: Promise<Pair>[]; requests: number };
const kinds = new Map<string, Kind>();

/** Calls `done` with the next of the kept keys. Keys of one kind that follow each other differ. */
export function generateKeyPair(type: 'rsa' | 'ec', options: Options, done: Done): void {
  const name = JSON.stringify([type, options]);
  const kind = kinds.get(name) ?? { keys: [], requests: 0 };
  kinds.set(name, kind);
  const place = kind.requests++ % KEPT_KEYS;
  const key = kind.keys[place] ?? newKey(type, options);
  kind.keys[place] = key;
  key.then(
    ({ publicKey, privateKey }) => done(null, publicKey, privateKey),
    (error) => done(error, undefined, undefined),
  );
}

function newKey(type: 'rsa' | 'ec', options: Options): Promise<Pair> {
  return new Promise((resolve, reject) => {
    const done: Done = (error, publicKey, privateKey) =>
      error ? reject(error) : resolve({ publicKey, privateKey });
    (generate as (type: string, options: Options, done: Done) => void)(type, options, done);
  });
}
