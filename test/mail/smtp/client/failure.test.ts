import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkError } from '../../../../src/mail/smtp/client/failure.ts';
import { TimeoutError } from '../../../../src/system/clock.ts';

const errorOf = (code: string) => Object.assign(new Error(`connect ${code} 192.0.2.1:25`), { code });

test('a lack of resources on this machine is not a failure of the peer', () => {
  for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EADDRNOTAVAIL']) {
    const { failure } = networkError('connect', errorOf(code));
    assert.deepEqual(failure, { phase: 'connect', kind: 'local', message: `connect ${code} 192.0.2.1:25` });
  }
});

test('errors of the network or the peer become a failure of the connection or a timeout', () => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'EPIPE']) {
    assert.equal(networkError('connect', errorOf(code)).failure.kind, 'connection');
  }
  assert.equal(networkError('connect', new TimeoutError('too long')).failure.kind, 'timeout');
});
