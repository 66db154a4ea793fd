import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from 'dns-packet';
import { assert as check, property, uint8Array } from 'fast-check';
import { KNOWN_RATE, UNKNOWN_RATE } from '../../src/nameserver/respond.ts';
import { CLIENT, HOST, opt, query, read, testResponder } from './zone.ts';

const CLIENT_COOKIE = Buffer.from('0123456789abcdef', 'hex');
/** A client that asks at a moment when its network is beyond the limit. */
const exhaust = ({ respondToDatagram }: ReturnType<typeof testResponder>, address = CLIENT) => {
  for (let count = 0; count < UNKNOWN_RATE.burst; count += 1) respondToDatagram(query(HOST, 'A'), address);
};

function cookieOf(response: Buffer | undefined): Buffer {
  const cookie = read(response).opt?.options?.find(({ code }) => code === 10)?.data;
  assert.ok(cookie);
  return cookie;
}

test('any bytes get a response that can be read, or none', () => {
  const { respondToDatagram } = testResponder();
  let address = 0;
  void check(
    property(uint8Array({ maxLength: 600 }), (bytes) => {
      address += 1;
      const response = respondToDatagram(Buffer.from(bytes), `198.18.${address % 250}.1`);
      if (response) assert.ok(response.length >= 12 && (response[2] ?? 0) >= 0x80);
    }),
    { numRuns: 2_000, seed: 1 },
  );
});

test('a query that is changed at one place gets a response that can be read, or none', () => {
  const { respondToSegment, clock } = testResponder();
  const valid = query(`track.${HOST}`, 'A', { cookie: CLIENT_COOKIE });
  for (let at = 0; at < valid.length; at += 1) {
    for (const value of [0, 1, 0x3f, 0x40, 0xc0, 0xff]) {
      const changed = Buffer.from(valid);
      changed[at] = value;
      const response = respondToSegment(changed, `198.18.${at % 250}.${value}`);
      if (response) assert.ok(read(response).code <= 23);
    }
  }
  assert.ok(clock.elapsed() === 0);
});

test('a response is never answered, so that two servers cannot answer each other', () => {
  const { respondToDatagram, outcomes } = testResponder();
  assert.equal(respondToDatagram(encode({ type: 'response', id: 1 }), CLIENT), undefined);
  assert.equal(respondToDatagram(Buffer.alloc(11), CLIENT), undefined);
  assert.deepEqual(outcomes, ['ignored', 'ignored']);
});

test('messages that make no sense get the code that says so', () => {
  const { respondToSegment } = testResponder();
  const header = (counts: number[], flags = 0) => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt16BE(flags, 2);
    counts.forEach((count, index) => void bytes.writeUInt16BE(count, 4 + 2 * index));
    return bytes;
  };
  const circle = Buffer.concat([header([1, 0, 0, 0]), Buffer.from([0xc0, 0x0c, 0, 1, 0, 1])]);
  const endless = Buffer.concat([header([1, 0, 0, 0]), Buffer.alloc(256, 1), Buffer.from([0, 0, 1, 0, 1])]);
  const whole = query(HOST, 'A', {});
  const inRecord = Buffer.concat([
    query(HOST, 'A'),
    Buffer.from([0xc0, 0x0c, 0, 41, 4, 0, 0, 0, 0, 0, 0, 0]),
  ]);
  inRecord.writeUInt16BE(1, 10);
  const twice = encode({
    type: 'query',
    questions: [{ name: HOST, type: 'A' }],
    additionals: [opt({}), opt({})],
  });
  for (const [message, code] of [
    [header([0, 0, 0, 0]), 1],
    [header([2, 0, 0, 0]), 1],
    [header([1, 0, 0, 0]), 1],
    [circle, 1],
    [endless, 1],
    [inRecord, 1],
    [twice, 1],
    [whole.subarray(0, -1), 1],
    [Buffer.concat([whole, Buffer.from([0])]), 1],
    [query(HOST, 'A', { cookie: Buffer.alloc(7) }), 1],
    [query(HOST, 'A', { cookie: Buffer.alloc(12) }), 1],
    [query(HOST, 'A', { cookie: Buffer.alloc(41) }), 1],
    [query(HOST, 'A', { version: 1 }), 16],
    // The operations NOTIFY and UPDATE.
    [header([1, 0, 0, 0], 0x2000), 4],
    [header([1, 0, 0, 0], 0x2800), 4],
  ] as const) {
    const seen = read(respondToSegment(message, CLIENT));
    assert.deepEqual([seen.code, seen.answers], [code, []], message.toString('hex'));
  }
});

test('a network has its rate; beyond it, every second query is told to ask over TCP, and the others are dropped', async () => {
  const responder = testResponder();
  const { respondToDatagram, respondToSegment, outcomes, clock } = responder;
  exhaust(responder);
  assert.ok(outcomes.every((outcome) => outcome === 'answered'));
  const asked = query(HOST, 'A');
  const beyond = [respondToDatagram(asked, '192.0.2.77'), respondToDatagram(asked, CLIENT)];
  const [slip] = beyond.filter((response) => response !== undefined);
  assert.equal(beyond.filter((response) => response === undefined).length, 1);
  assert.deepEqual([read(slip).isTruncated, read(slip).answers, slip?.length], [true, [], asked.length]);
  assert.deepEqual(outcomes.slice(-2), ['limited', 'limited']);
  assert.equal(read(respondToSegment(asked, CLIENT)).answers.length, 1);
  await clock.advance(1_000);
  const later = Array.from({ length: UNKNOWN_RATE.perSecond + 1 }, () => respondToDatagram(asked, CLIENT));
  assert.equal(later.filter((response) => response && read(response).answers.length === 1).length, 100);
});

test('other networks have their own rate, and an address in the form of IPv6 is the same network', () => {
  const responder = testResponder();
  exhaust(responder);
  const answersTo = (address: string) => {
    const response = responder.respondToDatagram(query(HOST, 'A'), address);
    return response ? read(response).answers.length : 0;
  };
  assert.equal(answersTo('198.51.100.1'), 1);
  assert.equal(answersTo('2001:db8:1::1'), 1);
  assert.equal(answersTo('::ffff:192.0.2.200'), 0);
  exhaust(responder, '2001:db8:2::1');
  assert.equal(answersTo('2001:db8:2:ffff::1'), 0);
  assert.equal(answersTo('2001:db8:3::1'), 1);
});

test('a client with a cookie is answered beyond the limit of forged senders; a cookie of another address or an old one is none', async () => {
  const responder = testResponder();
  const { respondToDatagram, clock } = responder;
  const cookie = cookieOf(respondToDatagram(query(HOST, 'A', { cookie: CLIENT_COOKIE }), CLIENT));
  assert.equal(cookie.subarray(0, 8).toString('hex'), CLIENT_COOKIE.toString('hex'));
  exhaust(responder);
  const withCookie = (given: Buffer, address = CLIENT) =>
    respondToDatagram(query(HOST, 'A', { cookie: given }), address);
  assert.equal(read(withCookie(cookie)).answers.length, 1);
  const changed = Buffer.from(cookie);
  changed.writeUInt8((changed.at(-1) ?? 0) ^ 1, changed.length - 1);
  const otherClient = Buffer.concat([Buffer.alloc(8), cookie.subarray(8)]);
  for (const response of [
    [withCookie(changed), withCookie(changed)],
    [withCookie(otherClient), withCookie(otherClient)],
    [withCookie(cookie, '192.0.2.54'), withCookie(cookie, '192.0.2.54')],
  ]) {
    const [bad] = response.filter((one) => one !== undefined);
    // BADCOOKIE brings the right cookie (RFC 7873 section 5.2.3).
    assert.deepEqual([read(bad).code, read(bad).answers], [23, []]);
    assert.equal(cookieOf(bad).length, cookie.length);
  }
  await clock.advance(3_601_000);
  exhaust(responder);
  const old = [withCookie(cookie), withCookie(cookie)].filter((one) => one !== undefined);
  assert.equal(read(old[0]).code, 23);
});

test('clients with a cookie and over TCP have a rate too', () => {
  const { respondToSegment, outcomes } = testResponder();
  for (let count = 0; count < KNOWN_RATE.burst; count += 1) respondToSegment(query(HOST, 'A'), CLIENT);
  assert.equal(respondToSegment(query(HOST, 'A'), CLIENT), undefined);
  assert.equal(outcomes.at(-1), 'limited');
});

test('a client can ask for a cookie alone', () => {
  const { respondToDatagram } = testResponder();
  const asked = encode({ type: 'query', additionals: [opt({ cookie: CLIENT_COOKIE })] });
  const response = respondToDatagram(asked, CLIENT);
  assert.equal(read(response).code, 0);
  assert.equal(cookieOf(response).length, 28);
});
