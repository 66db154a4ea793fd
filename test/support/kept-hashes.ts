/**
 * Replaces the functions with which passwords are hashed. A hash takes 30 ms of CPU time, and tests make hundreds of mailboxes with a
 * few passwords, so a process draws a few salts and hands them out in turn, and computes the hash of the same input once. The hook in
 * one-file-hook.ts makes src/mailboxes/passwords/hash.ts import these functions.
 */
import { timingSafeEqual as compare, argon2 as compute, randomBytes as draw } from 'node:crypto';

export const timingSafeEqual = compare;

type Arguments = Parameters<typeof compute>;
type Hash = Parameters<Arguments[2]>[1];

/** Two salts make two hashes of one password differ. */
const SALTS = 2;
const salts: Buffer[] = [];
let requests = 0;

/** Returns the next of the kept salts. */
export function randomBytes(size: number): Buffer {
  const place = requests++ % SALTS;
  const salt = salts[place] ?? draw(size);
  salts[place] = salt;
  return salt;
}

const real = compute;
const hashes = new Map<string, Hash>();

/** Hashes, unless this process has the hash. A test that replaces the function of Node gets every call. */
export function argon2(...[algorithm, parameters, done]: Arguments): void {
  const { message, nonce, ...cost } = parameters;
  const salt = Buffer.from(nonce as Uint8Array).toString('hex');
  const name = JSON.stringify([algorithm, message, salt, cost]);
  const known = compute === real ? hashes.get(name) : undefined;
  if (known) {
    setImmediate(done, null, known);
    return;
  }
  compute(algorithm, parameters, (error, hash) => {
    if (compute === real && !error) hashes.set(name, hash);
    done(error, hash);
  });
}
