/**
 * Cookies (RFC 7873): a client that repeats the cookie of the server has received a response at its address, so that this address is not
 * forged. The server keeps no state for a client: its cookie holds its time, and a hash of it with the cookie and the address of the client.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../system/clock.ts';

type Cookies = {
  /** Returns true when the cookie of a query has the part of the server, made here for this address not long ago. */
  isValid(cookie: Buffer, address: string): boolean;
  /** Returns the cookie for the response. */
  renew(cookie: Buffer, address: string): Buffer;
};

const CLIENT_BYTES = 8;
const TIME_BYTES = 4;
const HASH_BYTES = 16;
const COOKIE_BYTES = CLIENT_BYTES + TIME_BYTES + HASH_BYTES;
const SECRET_BYTES = 32;
/** Age up to which a cookie is valid, in seconds. It bounds the use of a cookie by whoever gets the address later. */
const MAX_AGE_SECONDS = 3_600;

/** Returns cookies with a new secret, which ends with the process: clients then get another cookie. */
export function createCookies(clock: Pick<Clock, 'elapsed'>): Cookies {
  const secret = randomBytes(SECRET_BYTES);
  const seconds = () => Math.floor(clock.elapsed() / 1_000);

  function make(client: Buffer, time: number, address: string): Buffer {
    const made = Buffer.alloc(COOKIE_BYTES);
    client.copy(made, 0, 0, CLIENT_BYTES);
    made.writeUInt32BE(time, CLIENT_BYTES);
    const signed = made.subarray(0, CLIENT_BYTES + TIME_BYTES);
    createHmac('sha256', secret).update(signed).update(address).digest().copy(made, signed.length);
    return made;
  }

  return {
    isValid(cookie, address) {
      if (cookie.length !== COOKIE_BYTES) return false;
      const time = cookie.readUInt32BE(CLIENT_BYTES);
      const age = seconds() - time;
      if (age < 0 || age > MAX_AGE_SECONDS) return false;
      return timingSafeEqual(cookie, make(cookie, time, address));
    },
    renew: (cookie, address) => make(cookie, seconds(), address),
  };
}
