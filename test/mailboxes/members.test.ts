/** Members use a shared mailbox with passwords of their own, until their membership ends. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { noAccounts } from '../../src/accounts/running-accounts.ts';
import { createApiServer } from '../../src/api.ts';
import { createAuthenticator } from '../../src/mailboxes/authenticate.ts';
import { renewLogin } from '../../src/mailboxes/credential.ts';
import { createScramKeys } from '../../src/mailboxes/scram-keys.ts';
import { mayUseAddress } from '../../src/mailboxes/sender-addresses.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { recordLog } from '../support/record-log.ts';
import { createScramClient } from '../support/scram-client.ts';
import { openTestApp, type TestMethod } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';

const { log, lines } = recordLog('info');
const world = await openTestApp({ system: { log } });
const ended: string[] = [];
const server = await createApiServer(world.app, {
  accounts: {
    ...noAccounts,
    endSessions: async (id, credential) => void ended.push(`${credential} of ${id}`),
  },
});
after(async () => {
  await server.close();
  await world.close();
});
const { app } = world;
const authenticate = createAuthenticator(app);
const ann = await addMailbox(world, { address: `ann@${SANDBOX}` });
const ben = await addMailbox(world, { address: `ben@${SANDBOX}` });

async function ask(method: TestMethod, path: string, payload?: object, key = world.testKey) {
  const headers = { authorization: `Bearer ${key}` };
  const url = `/v1/mailboxes${path}`;
  const response = await server.inject({ method, url, headers, ...(payload && { payload }) });
  return { status: response.statusCode, body: response.body === '' ? undefined : response.json() };
}

let count = 0;
async function createShared(...members: string[]) {
  const address = `team${++count}@${SANDBOX}`;
  const { status, body } = await ask('POST', '', { address, kind: 'shared', members });
  assert.equal(status, 201, JSON.stringify(body));
  const add = async (member: string) =>
    (await ask('POST', `/${body.id}/app-passwords`, { name: 'Phone', member })).body;
  return { mailbox: body, add };
}

async function logIn(username: string, password: string) {
  return await authenticate({ username, password, address: '192.0.2.1', protocol: 'imap' });
}

test('a shared mailbox has members and no password', async () => {
  const { mailbox } = await createShared(ben.address, ann.address.toUpperCase());
  const { kind, members, passwordLogin, scramLogin, password } = mailbox;
  assert.deepEqual(
    [kind, members, passwordLogin, scramLogin, password],
    ['shared', [ann.address, ben.address], false, false, null],
  );
  assert.ok('refused' in (await logIn(mailbox.address, '')));
  for (const field of [{ password: 'correct horse' }, { passwordLogin: true }, { scramLogin: true }]) {
    const [param] = Object.keys(field);
    const created = await ask('POST', '', { address: `x@${SANDBOX}`, kind: 'shared', ...field });
    const changed = await ask('PATCH', `/${mailbox.id}`, field);
    assert.deepEqual([created.status, created.body.error.param], [400, param]);
    assert.deepEqual([changed.status, changed.body.error.param], [400, param]);
  }
});

test('members are people of the tenant, and a personal mailbox has none', async () => {
  const { mailbox } = await createShared(ann.address);
  const stranger = await world.addTenant('stranger');
  const foreign = await addMailbox({ ...world, ...stranger }, { address: `foreign@${SANDBOX}` });
  for (const member of [mailbox.address, foreign.address, 'nobody', `nobody@${SANDBOX}`]) {
    const { status, body } = await ask('PATCH', `/${mailbox.id}`, { members: [ben.address, member] });
    assert.deepEqual([status, body.error.param], [400, 'members[1]'], member);
  }
  assert.deepEqual((await ask('GET', `/${mailbox.id}`)).body.members, [ann.address], 'none was added');
  const personal = await ask('PATCH', `/${ann.id}`, { members: [ben.address] });
  assert.deepEqual([personal.status, personal.body.error.param], [400, 'members']);
});

test('a member signs in as the shared address, with a password of its own and by SCRAM, and the log names the member', async () => {
  const { mailbox, add } = await createShared(ann.address);
  const { id, memberId, password } = await add(ann.address);
  assert.equal(memberId, ann.id);
  for (const [member, path] of [
    [ben.address, mailbox.id],
    [undefined, mailbox.id],
    [ben.address, ann.id],
  ]) {
    const refused = await ask('POST', `/${path}/app-passwords`, { name: 'Phone', ...(member && { member }) });
    assert.deepEqual([refused.status, refused.body.error.param], [400, 'member']);
  }
  lines.length = 0;
  const login = await logIn(mailbox.address, password);
  assert.equal('mailbox' in login && login.mailbox.id, mailbox.id);
  const line = lines.find(({ msg }) => msg === 'a member has logged in');
  assert.deepEqual([line?.['memberId'], line?.['appPasswordId']], [ann.id, id]);
  assert.ok('refused' in (await logIn(ann.address, password)), 'it opens no other mailbox');
  const client = createScramClient({ username: mailbox.address, password });
  const { salt, iterations } = await createScramKeys(app)(mailbox.address);
  const challenge = `r=rOprNGfwEbeRWgbNEkqOserver,s=${salt},i=${iterations}`;
  const [, withoutProof, proof = ''] = /^(.*),p=(.*)$/.exec(client.final(challenge)) ?? [];
  const message = `${client.first.slice(3)},${challenge},${withoutProof}`;
  const scram = {
    username: mailbox.address,
    message,
    proof,
    address: '192.0.2.1',
    protocol: 'imap',
  } as const;
  assert.ok('mailbox' in (await authenticate(scram)));
});

test('what a member could do ends with the membership, with a suspension, and with its mailbox', async () => {
  const { mailbox, add } = await createShared(ann.address, ben.address);
  const [ofAnn, ofBen] = [await add(ann.address), await add(ben.address)];
  const standing = async ({ password }: { password: string }) => {
    const login = await logIn(mailbox.address, password);
    return 'mailbox' in login && 'mailbox' in (await renewLogin(app, login));
  };
  ended.length = 0;
  await ask('PATCH', `/${mailbox.id}`, { members: [ben.address] });
  assert.deepEqual(ended, [`${ofAnn.id} of ${mailbox.id}`]);
  assert.deepEqual([await standing(ofAnn), await standing(ofBen)], [false, true]);
  ended.length = 0;
  await ask('PATCH', `/${ben.id}`, { status: 'suspended' });
  assert.deepEqual(ended, [`${ofBen.id} of ${mailbox.id}`]);
  assert.equal(await standing(ofBen), false);
  await ask('PATCH', `/${ben.id}`, { status: 'active' });
  assert.equal(await standing(ofBen), true);
  ended.length = 0;
  assert.equal((await ask('DELETE', `/${ben.id}`)).status, 204);
  assert.deepEqual(ended, [`${ofBen.id} of ${mailbox.id}`]);
  assert.equal(await standing(ofBen), false);
  assert.deepEqual((await ask('GET', `/${mailbox.id}`)).body.members, []);
  assert.deepEqual((await ask('GET', `/${mailbox.id}/app-passwords`)).body.data, []);
});

test('a member may write from the addresses of the shared mailbox, and nobody else', async () => {
  const { mailbox } = await createShared(ann.address);
  const cid = await addMailbox(world, { address: `cid@${SANDBOX}` });
  const [localPart, domain] = mailbox.address.split('@');
  const may = async (who: typeof ann, address: string) => mayUseAddress(app.db.read, who, address);
  assert.deepEqual(
    [
      await may(ann, mailbox.address),
      await may(ann, `${localPart}+x@${domain}`),
      await may(cid, mailbox.address),
    ],
    [true, true, false],
  );
  assert.equal(await may(mailbox, ann.address), false, 'a shared mailbox may not write as its members');
});
