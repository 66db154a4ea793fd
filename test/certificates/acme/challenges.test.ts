import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createChallenges } from '../../../src/certificates/acme/challenges.ts';

const PAIR = { chain: 'certificate', key: 'key' };
const ANSWER = { name: 'track.example.com', token: 'token', keyAuthorization: 'token.thumbprint' };

test('an answer is there for its own name and token, in any case of the name, until it is withdrawn', () => {
  const challenges = createChallenges();
  const offered = challenges.offerHttp(ANSWER);
  assert.equal(challenges.answerHttp('TRACK.example.com', 'token'), 'token.thumbprint');
  assert.equal(challenges.answerHttp('track.example.com', 'TOKEN'), undefined);
  assert.equal(challenges.answerHttp('other.example.com', 'token'), undefined);
  offered[Symbol.dispose]();
  assert.equal(challenges.answerHttp('track.example.com', 'token'), undefined);
});

test('a certificate for acme-tls/1 is there for its own name until it is withdrawn', () => {
  const challenges = createChallenges();
  const offered = challenges.offerAlpn('track.example.com', PAIR);
  assert.equal(challenges.findAlpn('Track.example.com'), PAIR);
  assert.equal(challenges.findAlpn('example.com'), undefined);
  offered[Symbol.dispose]();
  assert.equal(challenges.findAlpn('track.example.com'), undefined);
});

test('a withdrawn answer leaves a later one for the same name', () => {
  const challenges = createChallenges();
  const earlier = challenges.offerAlpn('track.example.com', PAIR);
  const later = { chain: 'later', key: 'key' };
  challenges.offerAlpn('track.example.com', later);
  earlier[Symbol.dispose]();
  assert.equal(challenges.findAlpn('track.example.com'), later);
});
