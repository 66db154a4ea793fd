import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SaslError } from '../../../src/mail/sasl/exchange.ts';
import { offeredMechanisms, runMechanism, type SaslSession } from '../../../src/mail/sasl/mechanisms.ts';
import { createScramVerifier, verifyProof } from '../../../src/mailboxes/passwords/scram-verifier.ts';
import { createRandom } from '../../support/random.ts';
import { createScramClient, createScramSession } from '../../support/scram-client.ts';

const ANN = { username: 'a=n,n@test.example', password: 'pass word' };
const BINDING = Buffer.from('the value that only this connection has');
const binding = (type: string) => (type === 'tls-exporter' ? BINDING : undefined);
const PLUS = { header: 'p=tls-exporter,,', binding: BINDING };

const login: SaslSession<string>['login'] = async ({ username, password }) =>
  username === ANN.username && password === ANN.password ? 'accepted' : 'refused';
const session: SaslSession<string> = { login, ...createScramSession(ANN, login) };

type Options = Partial<Parameters<typeof createScramClient>[0]> & {
  mechanism?: string;
  /** The connection has bindings. */
  hasBinding?: boolean;
  /** Changes what the client sends, by the number of the message. */
  change?: (message: string, index: number) => string;
};

/** Runs an exchange, and returns what came of it. */
async function run({
  mechanism = 'SCRAM-SHA-256',
  hasBinding = false,
  change = (message) => message,
  ...options
}: Options = {}): Promise<string> {
  const client = createScramClient({ ...ANN, ...options });
  let index = 0;
  const ask = async (challenge: string) => {
    const text = Buffer.from(challenge, 'base64').toString();
    const messages = [() => client.first, () => client.final(text), () => (client.believes(text) ? '' : '*')];
    const answer = change(messages[index]?.() ?? '', index++);
    return answer === '*' ? answer : Buffer.from(answer).toString('base64');
  };
  const channel = { initial: undefined, ask, binding: hasBinding ? binding : undefined };
  try {
    return await runMechanism(mechanism, channel, session);
  } catch (error) {
    if (error instanceof SaslError) return error.fault;
    throw error;
  }
}

test('the example of RFC 7677 section 3 is right', async () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64').toString('hex');
  const verifier = await createScramVerifier('pencil', salt, 4_096);
  const nonce = 'rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';
  const message = `n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=${nonce}`;
  const proof = 'dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=';
  assert.equal(verifyProof(verifier, { message, proof }), '6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=');
  assert.equal(verifyProof(verifier, { message: `${message} `, proof }), undefined);
  const client = createScramClient({ username: 'user', password: 'pencil' });
  assert.equal(client.final(`r=${nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`), `c=biws,r=${nonce},p=${proof}`);
});

test('a client that knows the password logs in, with and without a channel binding', async () => {
  assert.deepEqual(offeredMechanisms(undefined), ['SCRAM-SHA-256', 'PLAIN', 'LOGIN']);
  assert.deepEqual(offeredMechanisms(binding), [
    ...['SCRAM-SHA-256-PLUS', 'SCRAM-SHA-256', 'PLAIN', 'LOGIN'],
  ]);
  assert.equal(await run(), 'accepted');
  assert.equal(await run({ header: 'y,,' }), 'accepted', 'the server offers no binding either');
  assert.equal(await run({ header: 'n,a=a=3Dn=2Cn@test.example,' }), 'accepted');
  assert.equal(await run({ hasBinding: true }), 'accepted');
  assert.equal(await run({ mechanism: 'scram-sha-256-plus', hasBinding: true, ...PLUS }), 'accepted');
  const extended = (message: string, index: number) => (index === 0 ? `${message},x=1,Y=2=3` : message);
  assert.equal(await run({ change: extended }), 'refused', 'the proof is over what was received');
});

test('a wrong password or name is refused without a signature', async () => {
  assert.equal(await run({ password: 'pass worD' }), 'refused');
  assert.equal(await run({ username: 'ben@test.example' }), 'refused');
});

test('a login that is bound to another connection, or to none where the server offers it, is refused', async () => {
  const plus = { mechanism: 'SCRAM-SHA-256-PLUS', hasBinding: true, ...PLUS };
  assert.equal(await run({ ...plus, binding: Buffer.from('another connection') }), 'refused');
  assert.equal(await run({ ...plus, binding: Buffer.alloc(0) }), 'refused');
  assert.equal(await run({ ...plus, header: 'p=tls-unique,,' }), 'unsupported');
  assert.equal(await run({ ...plus, hasBinding: false }), 'unsupported');
  assert.equal(await run({ ...plus, header: 'n,,' }), 'malformed');
  assert.equal(await run({ ...plus, header: 'y,,' }), 'malformed');
  assert.equal(await run({ hasBinding: true, header: 'y,,' }), 'refused', 'somebody has removed PLUS');
  assert.equal(await run({ hasBinding: true, ...PLUS }), 'malformed', 'a binding needs PLUS');
  const dropped = (message: string, index: number) =>
    index === 1 ? message.replace(/^c=[^,]+/, 'c=biws') : message;
  assert.equal(await run({ ...plus, change: dropped }), 'refused');
});

test('messages without the form of SCRAM are refused', async () => {
  const changed = async (index: number, change: (message: string) => string) =>
    await run({ change: (message, at) => (at === index ? change(message) : message) });
  for (const first of [
    '',
    'n,',
    'n,,r=abc',
    'n,,n=,r=abc',
    'n,,n=ann',
    'n,,n=ann,r=',
    'n,,n=ann,r=a b',
    'n,,n=ann,r=é',
    'n,,n=a=nn,r=abc',
    'n,,n=ann=2c,r=abc',
    'n,,n=a\u0001nn,r=abc',
    `n,,n=${'a'.repeat(256)},r=abc`,
    'n,,m=new,n=ann,r=abc',
    'n,,n=ann,r=abc,1=x',
    'x,,n=ann,r=abc',
    'p=,,n=ann,r=abc',
  ])
    assert.equal(await changed(0, () => first), 'malformed', first);
  assert.equal(await changed(0, () => 'n,a=ben,n=ann,r=abc'), 'refused');
  for (const change of [
    () => '',
    (message: string) => message.replace(/,p=.*/, ''),
    (message: string) => message.replace(/,p=.*/, ',p=YWJj'),
    (message: string) => message.replace('r=', 'r=x'),
    (message: string) => message.replace('c=biws,', ''),
    (message: string) => `${message},x=1`,
  ])
    assert.equal(await changed(1, change), 'malformed');
  assert.equal(await changed(1, () => '*'), 'cancelled');
  assert.equal(await changed(2, () => 'thanks'), 'malformed');
  assert.equal(await changed(2, () => '*'), 'cancelled', 'the client does not believe the server');
});

test('whatever a client sends, the exchange ends', async () => {
  const random = createRandom(5_802);
  const pieces = ['n', 'y', 'p=', ',', '=', 'a=', 'n=', 'r=', 'c=', 'p=', 'biws', '\0', 'é', '=2C', 'x'];
  for (let round = 0; round < 500; round++) {
    const noise = () => Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join('');
    const spoil = (message: string) => {
      const at = random(message.length + 1);
      return message.slice(0, at) + noise() + message.slice(at + random(4));
    };
    const first = random(3) === 0 ? spoil : undefined;
    const what = await run({
      nonce: `abc${round}`,
      change: (message, index) =>
        index === 0 && first ? first(message) : index === 1 ? spoil(message) : message,
    }).catch((error) => (error instanceof Error && /nonce is wrong/.test(error.message) ? 'gone' : error));
    assert.ok(['malformed', 'refused', 'accepted', 'gone'].includes(what), `${what}`);
  }
});
