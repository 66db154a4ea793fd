/** Signs DNS messages, and checks those that come back, with a shared key (TSIG, RFC 8945). */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { name as nameCodec } from 'dns-packet';
import type { UpdateKey } from './key.ts';

/** A signed message, with the MAC that the response continues (RFC 8945 section 5.3.1). */
type Signed = { message: Buffer; mac: Buffer };

type Verified =
  | { kind: 'valid' }
  /** The server has refused the signature, or its own is wrong. `reason` is a sentence for the operator. */
  | { kind: 'invalid'; reason: string };

const TYPE_TSIG = 250;
const CLASS_ANY = 255;
/** Difference of the clocks that is allowed, in seconds (RFC 8945 section 10). */
const FUDGE_SECONDS = 300;
const HEADER_BYTES = 12;
const ARCOUNT_AT = 10;
/** Size of TYPE, CLASS, TTL and RDLENGTH of a record. */
const RECORD_FIXED_BYTES = 10;
/** Meaning of the errors in TSIG (RFC 8945 section 3). */
const ERRORS: Readonly<Record<number, string>> = {
  16: 'the key has another secret there (BADSIG)',
  17: 'it does not know the key (BADKEY)',
  18: 'its clock and the clock of this machine differ (BADTIME)',
  22: 'it wants a longer signature (BADTRUNC)',
};

/** Signs a message. `nowMs` is in Unix milliseconds. */
export function signMessage(message: Buffer, key: UpdateKey, nowMs: number): Signed {
  const seconds = Math.floor(nowMs / 1_000);
  const variables = { seconds, fudge: FUDGE_SECONDS, error: 0, other: Buffer.alloc(0) };
  const mac = createHmac(key.digest, key.secret)
    .update(message)
    .update(signedVariables(key, variables))
    .digest();
  const data = Buffer.concat([
    nameCodec.encode(key.algorithm),
    timeOf(variables),
    u16(mac.length),
    mac,
    message.subarray(0, 2),
    u16(0),
    u16(0),
  ]);
  const signed = Buffer.concat([
    message,
    nameCodec.encode(key.name),
    u16(TYPE_TSIG),
    u16(CLASS_ANY),
    Buffer.alloc(4),
    u16(data.length),
    data,
  ]);
  signed.writeUInt16BE(signed.readUInt16BE(ARCOUNT_AT) + 1, ARCOUNT_AT);
  return { message: signed, mac };
}

/** Checks the signature of a response to a signed message. It never throws. */
export function verifyResponse(
  response: Buffer,
  key: UpdateKey,
  sent: { mac: Buffer; nowMs: number },
): Verified {
  try {
    return verify(response, key, sent);
  } catch {
    return invalid('its response cannot be read');
  }
}

function verify(response: Buffer, key: UpdateKey, { mac, nowMs }: { mac: Buffer; nowMs: number }): Verified {
  const start = lastRecordAt(response);
  const found = start === undefined ? undefined : readTsig(response, start);
  if (start === undefined || !found) return invalid('its response is not signed');
  const error = ERRORS[found.error];
  if (found.mac.length === 0) return invalid(error ?? 'its response is not signed');
  const unsigned = Buffer.from(response.subarray(0, start));
  unsigned.writeUInt16BE(unsigned.readUInt16BE(ARCOUNT_AT) - 1, ARCOUNT_AT);
  found.originalId.copy(unsigned, 0);
  const expected = createHmac(key.digest, key.secret)
    .update(Buffer.concat([u16(mac.length), mac]))
    .update(unsigned)
    .update(signedVariables(key, found))
    .digest();
  const isOurs = expected.length === found.mac.length && timingSafeEqual(expected, found.mac);
  if (!isOurs) return invalid('the signature of its response is wrong');
  if (error !== undefined) return invalid(error);
  const skew = Math.abs(Math.floor(nowMs / 1_000) - found.seconds);
  return skew > found.fudge ? invalid('its response is from another time') : { kind: 'valid' };
}

type Variables = { seconds: number; fudge: number; error: number; other: Buffer };
type Tsig = Variables & { mac: Buffer; originalId: Buffer };

function readTsig(message: Buffer, start: number): Tsig | undefined {
  const typeAt = skipName(message, start);
  if (message.readUInt16BE(typeAt) !== TYPE_TSIG) return undefined;
  let offset = skipName(message, typeAt + RECORD_FIXED_BYTES);
  const seconds = message.readUIntBE(offset, 6);
  const fudge = message.readUInt16BE(offset + 6);
  const macLength = message.readUInt16BE(offset + 8);
  offset += 10;
  const mac = message.subarray(offset, offset + macLength);
  offset += macLength;
  const originalId = message.subarray(offset, offset + 2);
  const error = message.readUInt16BE(offset + 2);
  const other = message.subarray(offset + 6, offset + 6 + message.readUInt16BE(offset + 4));
  return { seconds, fudge, error, other, mac, originalId };
}

/** Returns where the last record of the message begins, which TSIG is (RFC 8945 section 5.1); undefined without additional records. */
function lastRecordAt(message: Buffer): number | undefined {
  let offset = HEADER_BYTES;
  for (let left = message.readUInt16BE(4); left > 0; left -= 1) offset = skipName(message, offset) + 4;
  const records = [6, 8, ARCOUNT_AT].reduce((sum, at) => sum + message.readUInt16BE(at), 0);
  if (message.readUInt16BE(ARCOUNT_AT) === 0) return undefined;
  for (let left = records; left > 1; left -= 1) {
    const fixed = skipName(message, offset);
    offset = fixed + RECORD_FIXED_BYTES + message.readUInt16BE(fixed + 8);
  }
  return offset;
}

function skipName(message: Buffer, start: number): number {
  nameCodec.decode(message, start);
  return start + nameCodec.decode.bytes;
}

/** Returns the variables that are signed beside the message (RFC 8945 section 4.3.3). */
function signedVariables(key: UpdateKey, variables: Variables): Buffer {
  return Buffer.concat([
    nameCodec.encode(key.name),
    u16(CLASS_ANY),
    Buffer.alloc(4),
    nameCodec.encode(key.algorithm),
    timeOf(variables),
    u16(variables.error),
    u16(variables.other.length),
    variables.other,
  ]);
}

function timeOf({ seconds, fudge }: Pick<Variables, 'seconds' | 'fudge'>): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntBE(seconds, 0, 6);
  bytes.writeUInt16BE(fudge, 6);
  return bytes;
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function invalid(reason: string): Verified {
  return { kind: 'invalid', reason };
}
