import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PasswordCredentials, SaslError } from '../../../src/mail/sasl/exchange.ts';
import { runMechanism, type SaslSession } from '../../../src/mail/sasl/mechanisms.ts';
import { createRandom } from '../../support/random.ts';

/** A session that answers with the credentials, and never gets a proof. */
const SESSION: SaslSession<PasswordCredentials> = {
  login: async (credentials) => credentials,
  scramKey: () => assert.fail(),
  loginByProof: () => assert.fail(),
};

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

/** Runs a mechanism with a client that gives these answers, and returns what was asked and what came of it. */
async function run(name: string, initial: string | undefined, ...answers: (string | undefined)[]) {
  const asked: string[] = [];
  const ask = async (challenge: string) => {
    asked.push(Buffer.from(challenge, 'base64').toString());
    return answers.shift();
  };
  try {
    return { asked, result: await runMechanism(name, { initial, ask, binding: undefined }, SESSION) };
  } catch (error) {
    if (!(error instanceof SaslError)) throw error;
    return { asked, result: error.fault };
  }
}

const ANN = { username: 'ann@test.example', password: 'pass wörd' };
const PLAIN = base64(`\0${ANN.username}\0${ANN.password}`);

test('PLAIN and LOGIN end with a name and a password, with and without an initial response', async () => {
  assert.deepEqual(await run('PLAIN', PLAIN), { asked: [], result: ANN });
  assert.deepEqual(await run('plain', undefined, PLAIN), { asked: [''], result: ANN });
  for (const authority of [ANN.username, 'Ann@Test.example']) {
    const forItself = base64(`${authority}\0${ANN.username}\0${ANN.password}`);
    assert.deepEqual((await run('PLAIN', forItself)).result, ANN);
  }
  const answers = [base64(ANN.username), base64(ANN.password)];
  assert.deepEqual(await run('LOGIN', undefined, ...answers), {
    asked: ['Username:', 'Password:'],
    result: ANN,
  });
  assert.deepEqual(await run('Login', answers[0], answers[1]), { asked: ['Password:'], result: ANN });
});

test('answers without the form of the mechanism are refused before anybody is asked about them', async () => {
  const refused: [string, ...Parameters<typeof run>][] = [
    ['unsupported', 'GSSAPI', undefined],
    ['unsupported', '', undefined],
    ['cancelled', 'PLAIN', undefined, '*'],
    ['cancelled', 'LOGIN', base64('ann'), '*'],
    ['too-long', 'PLAIN', undefined, undefined],
    ['too-long', 'PLAIN', 'AAAA'.repeat(3_073)],
    ['malformed', 'PLAIN', '='],
    ['malformed', 'PLAIN', '?'],
    ['malformed', 'PLAIN', 'AAA'],
    ['malformed', 'PLAIN', `${PLAIN} `],
    ['malformed', 'PLAIN', base64('ann\0word')],
    ['malformed', 'PLAIN', base64('\0ann\0word\0')],
    ['malformed', 'PLAIN', base64('\0\0word')],
    ['refused', 'PLAIN', base64('ben\0ann\0word')],
    ['refused', 'PLAIN', base64('ann@other.example\0ann@test.example\0word')],
    ['malformed', 'PLAIN', base64('ben\0\0word')],
    ['malformed', 'PLAIN', base64('\0ann\r\n* OK\0word')],
    ['malformed', 'PLAIN', base64('\0ann\u0085\0word')],
    ['malformed', 'PLAIN', base64(Buffer.from('\0ann\xff\0word', 'latin1'))],
    ['malformed', 'PLAIN', base64(`\0${'a'.repeat(256)}\0word`)],
    ['malformed', 'PLAIN', base64(`\0ann\0${'w'.repeat(1_025)}`)],
    ['malformed', 'LOGIN', undefined, '', base64('word')],
    ['malformed', 'LOGIN', undefined, base64('ann\0'), base64('word')],
  ];
  for (const [fault, ...exchange] of refused)
    assert.equal((await run(...exchange)).result, fault, exchange.join(' '));
  assert.deepEqual((await run('PLAIN', base64(`\0${'a'.repeat(255)}\0${'w'.repeat(1_024)}`))).result, {
    username: 'a'.repeat(255),
    password: 'w'.repeat(1_024),
  });
});

test('whatever a client answers, the exchange ends: with credentials in their form, or with an error of SASL', async () => {
  const random = createRandom(4_422);
  const pieces = ['\0', 'ann', '@', '\r\n', 'é', '\x7f', ''];
  for (let round = 0; round < 2_000; round++) {
    const answer = () => {
      const length = random(8);
      const octets = Buffer.from(Array.from({ length }, () => random(256)));
      if (random(3) === 0) return octets.toString('latin1');
      if (random(3) === 0) return base64(octets);
      return base64(Array.from({ length }, () => pieces[random(pieces.length)]).join(''));
    };
    const name = random(2) === 0 ? 'PLAIN' : 'LOGIN';
    const { result } = await run(name, random(2) === 0 ? undefined : answer(), answer(), answer());
    if (typeof result === 'string') continue;
    assert.doesNotMatch(result.username, /\p{Cc}|^$/u);
  }
});
