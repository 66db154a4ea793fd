/** Replaces Argon2 by a hash that costs nothing, and counts what it is asked for. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

type Asked = Pick<crypto.Argon2Parameters, 'memory' | 'passes' | 'parallelism' | 'tagLength'>;

export type CountedHashes = {
  /** The hashes that were started since the last call. */
  take(): Asked[];
  /** Ends the oldest hash that runs. Without this being called hashes end by themselves. */
  release(): void;
  /** From now on, hashes run until they are released. */
  hold(): void;
  /** From now on, hashes end by themselves again. */
  resume(): void;
  restore(): void;
};

/** Replaces Argon2 in this process until `restore`. */
export function countHashes(): CountedHashes {
  const real = crypto.argon2;
  let asked: Asked[] = [];
  const held: (() => void)[] = [];
  let isHolding = false;
  crypto.argon2 = (_algorithm, { message, nonce, ...cost }, callback) => {
    asked.push(cost);
    const digest = crypto.hash(
      'sha256',
      `${Buffer.from(nonce as Uint8Array).toString('hex')} ${message}`,
      'buffer',
    );
    const end = () => callback(null, digest);
    if (isHolding) held.push(end);
    else setImmediate(end);
  };
  syncBuiltinESMExports();
  return {
    take() {
      const taken = asked;
      asked = [];
      return taken;
    },
    release: () => held.shift()?.(),
    hold() {
      isHolding = true;
    },
    resume() {
      isHolding = false;
    },
    restore() {
      crypto.argon2 = real;
      syncBuiltinESMExports();
    },
  };
}
