/** Logins by SCRAM: which passwords of a mailbox a proof may be made with, and what somebody learns who has none of them. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createAuthenticator } from '../../src/mailboxes/authenticate.ts';
import { createScramKeys } from '../../src/mailboxes/scram-keys.ts';
import { findProven, listVerifiers } from '../../src/mailboxes/scram-proof.ts';
import { findMailboxById } from '../../src/mailboxes/store.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createScramClient } from '../support/scram-client.ts';
import { openTestApp, type TestMethod } from '../support/test-app.ts';
import { countHashes } from './passwords/counted-hashes.ts';

const clock = createFakeClock(1_800_000_000_000);
const env = { POSTRIDER_MAILBOXES_FAILURES_PER_ADDRESS: '3', POSTRIDER_MAILBOXES_FAILURES_PER_ACCOUNT: '4' };
const world = await openTestApp({ system: { clock }, env });
const hashes = countHashes();
after(async () => {
  hashes.restore();
  await world.close();
});
const { app } = world;
const authenticate = createAuthenticator(app);
const scramKey = createScramKeys(app);

const PASSWORD = 'correct horse';
let count = 0;

async function ask(method: TestMethod, path: string, body?: object) {
  return await world.request(method, `/v1/mailboxes${path}`, body && { body });
}

/** Creates a mailbox, and returns what it was created with and a login by SCRAM from an address of its own. */
async function create(fields: object = {}) {
  count += 1;
  const { body } = await ask('POST', '', { address: `user${count}@${SANDBOX}`, ...fields });
  const own = `192.0.2.${count}`;
  async function login(
    password: string,
    { username = body.address as string, address = own, protocol = 'imap' as const } = {},
  ) {
    const client = createScramClient({ username, password });
    const { salt, iterations } = await scramKey(username);
    const challenge = `r=rOprNGfwEbeRWgbNEkqOserver,s=${salt},i=${iterations}`;
    const [, withoutProof, proof = ''] = /^(.*),p=(.*)$/.exec(client.final(challenge)) ?? [];
    const message = `${client.first.slice(3)},${challenge},${withoutProof}`;
    const result = await authenticate({ username, message, proof, address, protocol });
    if ('refused' in result) return result.refused;
    assert.ok(client.believes(`v=${result.serverSignature}`));
    return result.credential.kind === 'password' ? 'password' : result.credential.row.name;
  }
  return { mailbox: body, login };
}

test('an app password works with SCRAM as it is shown and without its hyphens, where it may be used', async () => {
  const { mailbox, login } = await create({ password: PASSWORD });
  const add = async (body: object) => (await ask('POST', `/${mailbox.id}/app-passwords`, body)).body;
  const { password } = await add({ name: 'Phone' });
  const sending = await add({ name: 'Printer', protocols: ['smtp'] });
  hashes.take();
  assert.equal(await login(password), 'Phone');
  assert.equal(
    await login(password.replaceAll('-', ''), { username: mailbox.address.toUpperCase() }),
    'Phone',
  );
  assert.equal(await login(sending.password), 'credentials');
  assert.equal(await login(sending.password, { protocol: 'smtp' as never }), 'Printer');
  assert.equal(hashes.take().length, 0);
});

test('a password of a mailbox works with SCRAM when the server has made it, or when the caller wants it', async () => {
  const made = await create();
  assert.equal(made.mailbox.scramLogin, true);
  assert.equal(await made.login(made.mailbox.password), 'password');
  const chosen = await create({ password: PASSWORD });
  assert.equal(chosen.mailbox.scramLogin, false);
  assert.equal(await chosen.login(PASSWORD), 'credentials');
  const wanted = await create({ password: 'corr\u00adect hörse', scramLogin: true });
  assert.equal(await wanted.login('correct hörse'), 'password', 'SASLprep removes the soft hyphen');
  const path = `/${wanted.mailbox.id}`;
  assert.equal((await ask('PATCH', path, { passwordLogin: false })).body.scramLogin, true);
  assert.equal(await wanted.login('correct hörse'), 'credentials');
  assert.equal((await ask('PATCH', path, { passwordLogin: true, password: PASSWORD })).body.scramLogin, true);
  assert.equal(await wanted.login(PASSWORD), 'password');
  assert.equal((await ask('PATCH', path, { scramLogin: false })).body.scramLogin, false);
  assert.equal(await wanted.login(PASSWORD), 'credentials');
  const refused = await ask('PATCH', path, { scramLogin: true });
  assert.deepEqual([refused.status, refused.body.error?.param], [400, 'scramLogin']);
  const prohibited = await ask('PATCH', path, { scramLogin: true, password: `${PASSWORD}\ue000` });
  assert.deepEqual([prohibited.status, prohibited.body.error?.param], [400, 'password']);
});

test('a name that nobody has gets a salt that stays, and that other installations do not give', async (t) => {
  const { mailbox } = await create();
  const known = await scramKey(mailbox.address);
  const row = await findMailboxById(app.db.read, mailbox.id);
  assert.equal(Buffer.from(known.salt, 'base64').toString('hex'), row?.scramSalt);
  const nobody = await scramKey(`nobody@${SANDBOX}`);
  assert.deepEqual(await scramKey(`NOBODY@${SANDBOX}`), nobody);
  assert.deepEqual(await createScramKeys(app)(`nobody@${SANDBOX}`), nobody, 'after a restart, too');
  assert.notEqual((await scramKey('no address')).salt, nobody.salt);
  assert.deepEqual([nobody.salt.length, nobody.iterations], [known.salt.length, known.iterations]);
  const other = await openTestApp();
  t.after(() => other.close());
  assert.notEqual((await createScramKeys(other.app)(`nobody@${SANDBOX}`)).salt, nobody.salt);
});

test('the salt of a name tells nobody when it gets a mailbox, or loses it', async () => {
  const address = `later@${SANDBOX}`;
  const before = await scramKey(address);
  const created = await ask('POST', '', { address });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.deepEqual(await scramKey(address), before);
  await ask('DELETE', `/${created.body.id}`);
  assert.deepEqual(await scramKey(address), before);
});

test('a wrong proof costs the same for a name that nobody has, and for one with the most app passwords', async () => {
  const { mailbox } = await create();
  const row = await findMailboxById(app.db.read, mailbox.id);
  const [one] = await listVerifiers(app, row, { protocol: 'imap', address: '192.0.2.1' });
  assert.ok(one);
  const tried = async (known: (typeof one)[]) => {
    let count = 0;
    const message = 'x';
    const proof = {
      username: '',
      message,
      get proof() {
        count += 1;
        return 'AAAA';
      },
    };
    assert.equal(await findProven(known, proof), undefined);
    return count;
  };
  assert.equal(await tried([]), 101);
  assert.equal(await tried(Array(101).fill(one)), 101);
});

test('wrong proofs count as wrong passwords, for names that exist and names that do not', async () => {
  for (const username of [undefined, `nobody${count}@${SANDBOX}`]) {
    const { mailbox, login } = await create();
    const name = username ?? mailbox.address;
    const wrong = () => login('wrong horse', { username: name });
    assert.deepEqual(
      [await wrong(), await wrong(), await wrong(), await wrong()],
      ['credentials', 'credentials', 'credentials', 'limited'],
    );
  }
});

test('many wrong proofs at once are no more attempts, and the owner still gets in where she has been before', async () => {
  const { mailbox, login } = await create();
  const home = { address: '198.51.100.1' };
  assert.equal(await login(mailbox.password, home), 'password');
  const attempts = Array.from({ length: 20 }, (_, index) =>
    login('wrong horse', { address: `203.0.113.${index}` }),
  );
  const results = await Promise.all(attempts);
  assert.equal(results.filter((result) => result === 'credentials').length, 4);
  assert.equal(await login(mailbox.password, { address: '203.0.113.100' }), 'limited');
  assert.equal(await login(mailbox.password, home), 'password');
});
