import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from 'dns-packet';
import { parseUpdateKey } from '../../src/dns-updates/key.ts';
import { signMessage, verifyResponse } from '../../src/dns-updates/tsig.ts';

const NOW = 1_800_000_000_000;
const SECRET = Buffer.from('a secret of the tests').toString('base64');
const key = parseUpdateKey(`hmac-sha256:postrider.:${SECRET}`, 'key');
const question = encode({ id: 7, type: 'query', questions: [{ name: 'example.com', type: 'A' }] });
const response = encode({ id: 7, type: 'response', questions: [{ name: 'example.com', type: 'A' }] });

test('a key is read as BIND and as Knot write it, and weak algorithms are refused', () => {
  const bind = `key "Postrider" {\n\talgorithm hmac-sha512;\n\tsecret "${SECRET}";\n};\n`;
  const read = parseUpdateKey(bind, 'key');
  assert.deepEqual([read.name, read.algorithm, read.digest], ['postrider', 'hmac-sha512', 'sha512']);
  const knot = `# hmac-sha256:postrider:${SECRET}\nkey:\n  - id: postrider\n`;
  assert.deepEqual(parseUpdateKey(knot, 'key'), key);
  assert.throws(() => parseUpdateKey(`hmac-md5:postrider:${SECRET}`, 'key'), /algorithm must be one of/);
  assert.throws(() => parseUpdateKey('nothing', 'key'), /key holds no TSIG key/);
});

test('a response without a signature, with that of another request, or changed, is not believed', () => {
  const sent = { mac: signMessage(question, key, NOW).mac, nowMs: NOW };
  const reasonOf = (bytes: Buffer) => {
    const verified = verifyResponse(bytes, key, sent);
    return verified.kind === 'invalid' ? verified.reason : 'valid';
  };
  assert.match(reasonOf(response), /not signed/);
  // A signature that does not continue the one of the request belongs to another exchange.
  assert.match(reasonOf(signMessage(response, key, NOW).message), /signature of its response is wrong/);
  assert.match(reasonOf(Buffer.alloc(5)), /cannot be read/);
  for (let at = 0; at < response.length; at += 1) {
    const changed = Buffer.from(signMessage(response, key, NOW).message);
    changed.writeUInt8((changed[at] ?? 0) ^ 0x55, at);
    assert.notEqual(reasonOf(changed), 'valid');
  }
});
