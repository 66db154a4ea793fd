import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkError } from '../../../../src/mail/smtp/client/failure.ts';
import { TimeoutError } from '../../../../src/system/clock.ts';

const errorOf = (code: string) => Object.assign(new Error(`connect ${code} 192.0.2.1:25`), { code });

test('what this machine lacks is no failure of the peer', () => {
  for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL']) {
    const { failure } = networkError('connect', errorOf(code));
    assert.deepEqual(failure, { phase: 'connect', kind: 'local', message: `connect ${code} 192.0.2.1:25` });
  }
});

test('what the network or the peer did is one', () => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'EPIPE']) {
    assert.equal(networkError('connect', errorOf(code)).failure.kind, 'connection');
  }
  assert.equal(networkError('connect', new TimeoutError('too long')).failure.kind, 'timeout');
});
