/** `postrider mailbox`: the operator manages the mailboxes of all tenants. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import qrcode from 'qrcode';
import { runProgram } from '../../src/cli/program.ts';
import { openControlSocket } from '../../src/control-socket.ts';
import { createAuthenticator } from '../../src/mailboxes/authenticate.ts';
import { SANDBOX } from '../emails/fixtures.ts';
import { addMailboxDomain } from '../mailboxes/fixtures.ts';
import { countHashes } from '../mailboxes/passwords/counted-hashes.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { openTestApp } from '../support/test-app.ts';

const hashes = countHashes();
const world = await openTestApp();
const control = await openControlSocket(world.app);
after(async () => {
  await control.close();
  await world.close();
  hashes.restore();
});
await addMailboxDomain(world, 'people.example');
const authenticate = createAuthenticator(world.app);

async function run(args: string[], input = '') {
  const env = { POSTRIDER_DATA_DIR: world.dataDir, POSTRIDER_HOSTNAME: world.app.config.hostname };
  const terminal = fakeTerminal(env, { input });
  const code = await runProgram(['mailbox', ...args], terminal);
  const value = args.includes('--json') && code === 0 ? JSON.parse(terminal.output) : undefined;
  return { code, value, output: terminal.output, errors: terminal.errors };
}

async function login(username: string, password: string): Promise<string> {
  const result = await authenticate({ username, password, address: '192.0.2.1', protocol: 'imap' });
  return 'refused' in result ? result.refused : 'accepted';
}

test('create prints a password once, which opens the mailbox of the tenant that receives at the domain', async () => {
  const { code, output } = await run(['create', 'Ann@people.example', '--name', 'Ann Lee', '--quota', '5']);
  assert.equal(code, 0);
  const [first, password = ''] = output.split('\n');
  assert.equal(first, 'Mailbox ann@people.example; its password is shown only once:');
  assert.equal(await login('ann@people.example', password), 'accepted');
  const { value, output: json } = await run(['show', 'ANN@people.example', '--json']);
  const { tenantId, displayName, quotaBytes } = value;
  assert.deepEqual([tenantId, displayName, quotaBytes], [world.tenantId, 'Ann Lee', 5 * 1024 * 1024]);
  assert.ok(!json.includes(password));
});

test('create takes the password from standard input', async () => {
  const { output } = await run(['create', 'ben@people.example', '--password-stdin'], 'correct horse');
  assert.equal(output, 'Mailbox ben@people.example has the password that you gave\n');
  assert.equal(await login('ben@people.example', 'correct horse'), 'accepted');
});

test('where nobody receives, the only tenant gets the mailbox, and with several the operator names one', async () => {
  const { value } = await run(['create', `only@${SANDBOX}`, '--json']);
  assert.equal(value.tenantId, world.tenantId);
  const { tenantId } = await world.addTenant('second');
  const refused = await run(['create', `more@${SANDBOX}`]);
  assert.deepEqual([refused.code, refused.output], [1, '']);
  assert.match(
    refused.errors,
    /`tenant` must say whose mailbox it is \(--tenant\), because the mail of sandbox/,
  );
  const named = await run(['create', `more@${SANDBOX}`, '--tenant', 'second', '--json']);
  assert.equal(named.value.tenantId, tenantId);
});

test('list shows the mailboxes of all tenants, or of one tenant or domain, and no control characters', async () => {
  const { tenantId } = await world.addTenant('lister');
  await run(['create', `list@${SANDBOX}`, '--tenant', tenantId, '--name', 'a\u202eb\u009b']);
  const addresses = async (...args: string[]) =>
    (await run(['list', '--json', ...args])).value.mailboxes.map(
      ({ address }: { address: string }) => address,
    );
  assert.deepEqual(await addresses('--tenant', 'lister'), [`list@${SANDBOX}`]);
  assert.ok(!(await addresses('--domain', 'people.example')).includes(`list@${SANDBOX}`));
  assert.ok((await addresses()).includes('ben@people.example'));
  const { output } = await run(['list', '--tenant', 'lister']);
  assert.match(
    output,
    /^ADDRESS +NAME .*\nlist@sandbox\S+ +a\ufffdb\ufffd +active +0 +0 MB +10240 MB +never /,
  );
  assert.equal((await run(['list', '--domain', 'none.example'])).output, 'No mailboxes.\n');
});

test('set changes what it names, and shows the mailbox', async () => {
  await run(['create', 'cid@people.example', '--name', 'Cid']);
  const set = (...args: string[]) => run(['set', 'cid@people.example', '--json', ...args]);
  const changed = (await set('--status', 'suspended', '--disable', 'idle,BINARY', '--quota', '7')).value;
  const { status, disabledCapabilities, quotaBytes, displayName } = changed;
  assert.deepEqual(
    [status, disabledCapabilities, quotaBytes, displayName],
    ['suspended', ['BINARY', 'IDLE'], 7 * 1024 * 1024, 'Cid'],
  );
  const back = (await set('--status', 'active', '--disable', '', '--name', '')).value;
  assert.deepEqual([back.status, back.disabledCapabilities, back.displayName], ['active', [], null]);
  assert.match((await run(['set', back.id, '--quota', '9'])).output, /\nquota +9 MB\n/);
  for (const wrong of [
    ['--quota', '0'],
    ['--quota', 'x'],
    ['--status', 'damaged'],
  ])
    assert.equal((await set(...wrong)).code, 2, wrong.join(' '));
});

test('passwd replaces the password by a new one, or by one from standard input', async () => {
  await run(['create', 'dee@people.example', '--password-stdin'], 'correct horse');
  const { output } = await run(['passwd', 'dee@people.example']);
  assert.equal(await login('dee@people.example', 'correct horse'), 'credentials');
  assert.equal(await login('dee@people.example', output.split('\n')[1] ?? ''), 'accepted');
  await run(['passwd', 'dee@people.example', '--password-stdin'], 'battery staple');
  assert.equal(await login('dee@people.example', 'battery staple'), 'accepted');
  const short = await run(['passwd', 'dee@people.example', '--password-stdin'], 'short');
  assert.deepEqual([short.code, short.errors], [1, 'error: `password` must have 8 to 256 characters\n']);
});

test('an app password is printed once and opens the mailbox until it is revoked', async () => {
  await run(['create', 'fay@people.example', '--password-stdin'], 'correct horse');
  const { output } = await run(['app-password', 'create', 'fay@people.example', '--name', 'Phone']);
  const [first, password = ''] = output.split('\n');
  assert.match(first ?? '', /^App password apw_\w+ for fay@people\.example; it is shown only once:$/);
  assert.equal(await login('fay@people.example', password), 'accepted');
  const args = ['app-password', 'create', 'fay@people.example', '--name', 'Laptop'];
  const limited = await run([...args, '--protocol', 'imap', 'smtp', '--allow-ip', '10.0.0.0/8', '--json']);
  assert.deepEqual([limited.value.protocols, limited.value.allowedIps], [['imap', 'smtp'], ['10.0.0.0/8']]);
  const listed = await run(['app-password', 'list', 'fay@people.example']);
  assert.match(listed.output, /Laptop +\w{8} +imap smtp +10\.0\.0\.0\/8 +never +never\n.*Phone +\w{8} /);
  const [, id = ''] = /(apw_\w+) +Phone/.exec(listed.output) ?? [];
  assert.equal((await run(['app-password', 'revoke', id])).code, 2, 'it asks first');
  assert.equal((await run(['app-password', 'revoke', id, '--yes'])).output, `Revoked ${id} "Phone"\n`);
  assert.equal(await login('fay@people.example', password), 'credentials');
  const gone = await run(['app-password', 'revoke', id, '--yes']);
  assert.deepEqual([gone.code, gone.errors], [1, 'error: App password not found\n']);
});

test('without the login by password, a mailbox shows it', async () => {
  await run(['create', 'gus@people.example', '--password-stdin'], 'correct horse');
  const { output } = await run(['set', 'gus@people.example', '--password-login', 'off']);
  assert.match(output, /\npassword login +off\n/);
  assert.equal(await login('gus@people.example', 'correct horse'), 'credentials');
  await run(['set', 'gus@people.example', '--password-login', 'on']);
  assert.equal(await login('gus@people.example', 'correct horse'), 'accepted');
});

test('delete asks first, and what is not there is said', async () => {
  await run(['create', 'eve@people.example']);
  assert.deepEqual((await run(['delete', 'eve@people.example'])).code, 2);
  const { output } = await run(['delete', 'eve@people.example', '--yes']);
  assert.equal(output, 'Deleted eve@people.example\n');
  for (const command of [['show'], ['set', '--name', 'x'], ['passwd'], ['delete', '--yes']]) {
    const { code, errors } = await run([...command, 'eve@people.example']);
    assert.deepEqual([code, errors], [1, 'error: Mailbox not found\n'], command[0]);
  }
});

test('alias adds an address to a mailbox and removes it, and leaves the others', async () => {
  await run(['create', 'ali@people.example', '--name', 'Ali']);
  const alias = (...args: string[]) => run(['alias', ...args]);
  const { output } = await alias('add', 'ali@people.example', 'Team@people.example');
  assert.equal(output, 'ali@people.example also receives for:\nteam@people.example\n');
  const { value } = await alias('add', 'ali@people.example', '*@people.example', '--json');
  assert.deepEqual(value.aliases, ['*@people.example', 'team@people.example']);
  assert.match(
    (await run(['show', 'ali@people.example'])).output,
    /aliases +\*@people\.example, team@people\.example/,
  );
  const unknown = await alias('remove', 'ali@people.example', 'other@people.example');
  assert.deepEqual(
    [unknown.code, unknown.errors],
    [1, 'error: the mailbox has no alias other@people.example\n'],
  );
  await alias('remove', 'ali@people.example', 'TEAM@people.example');
  assert.equal(
    (await alias('remove', 'ali@people.example', '*@people.example')).output,
    'ali@people.example has no aliases\n',
  );
});

test('vacation and forward set, show and end what a mailbox does by itself', async () => {
  const address = 'filters@people.example';
  await run(['create', address]);
  assert.equal((await run(['vacation', address])).output, `${address} answers no mail automatically\n`);
  const times = ['--from', '2026-12-24T00:00:00Z', '--until', '2027-01-04T00:00:00Z'];
  const { output } = await run(['vacation', address, '--subject', 'Away', '--text', 'Back soon', ...times]);
  assert.equal(
    output,
    `${address} answers mail automatically from 2026-12-24T00:00:00Z until 2027-01-04T00:00:00Z:\nSubject: Away\nBack soon\n`,
  );
  assert.equal((await run(['vacation', address])).output, output);
  const noText = await run(['vacation', address, '--subject', 'Away']);
  assert.deepEqual([noText.code, noText.output], [2, '']);
  assert.match(
    (await run(['vacation', address, '--text', 'a', ...times.slice(0, 1), 'soon'])).errors,
    /vacation\.from/,
  );
  assert.match((await run(['vacation', address, '--off'])).output, /answers no mail/);
  assert.equal((await run(['forward', address])).output, `${address} forwards no mail\n`);
  const forwarded = await run(['forward', address, 'bob@other.example', '--no-copy']);
  assert.equal(forwarded.output, `${address} forwards its mail, and does not store it:\nbob@other.example\n`);
  assert.match((await run(['forward', address, 'nobody'])).errors, /forwardTo\[0\]/);
  assert.equal((await run(['forward', address, 'bob@other.example', '--off'])).code, 2);
  assert.equal((await run(['forward', address, '--no-copy'])).code, 2);
  const { value } = await run(['forward', address, '--off', '--json']);
  assert.deepEqual([value.forwardTo, value.keepCopy], [[], true]);
});

test('show prints the settings for mail programs, and the link to the profile as a QR code', async () => {
  const address = 'dee@people.example';
  await run(['create', address]);
  const { output } = await run(['show', address]);
  const { hostname, imap, pop3, submission, managesieve } = world.app.config;
  assert.match(output, /\n\nSERVICE +SERVER +PORT +ENCRYPTION +USER NAME\n/);
  assert.match(output, new RegExp(`\\nIMAP +${hostname} +${imap.port} +TLS +dee@people\\.example\\n`));
  const url = `https://${hostname}/profile.mobileconfig?emailaddress=dee%40people.example`;
  assert.ok(output.includes(`open ${url} or scan this code:\n\n`));
  assert.ok(
    output.endsWith(`${await qrcode.toString(url, { type: 'utf8', small: true })}`.trimEnd().concat('\n')),
  );
  const { value } = await run(['show', address, '--json']);
  assert.deepEqual(value.settings, {
    username: address,
    host: hostname,
    services: [
      { protocol: 'imap', security: 'tls', port: imap.port },
      { protocol: 'pop3', security: 'tls', port: pop3.port },
      { protocol: 'smtp', security: 'tls', port: submission.tlsPort },
      { protocol: 'smtp', security: 'starttls', port: submission.port },
      { protocol: 'sieve', security: 'starttls', port: managesieve.port },
    ],
    profileUrl: url,
  });
});

test('the members of a shared mailbox are listed when one is added or removed, and by show', async () => {
  const [address, member] = ['team@people.example', 'ann@people.example'];
  await run(['create', address, '--shared']);
  assert.match((await run(['show', address])).output, /\nmembers +none\n/);
  assert.equal((await run(['member', 'add', address, member])).output, `${address} is used by:\n${member}\n`);
  const { output } = await run(['show', address]);
  assert.match(output, /\nmembers +ann@people\.example\n/);
  assert.doesNotMatch(output, /password login/);
  assert.equal((await run(['member', 'remove', address, member])).output, `${address} has no members\n`);
  assert.match((await run(['member', 'remove', address, member])).errors, /is not a member/);
});

test('a wrong id is called by its name, and an address that nobody has is not found', async () => {
  for (const args of [
    ['show', 'mbx_wrong'],
    ['outbox', 'mbx_wrong'],
    ['delete', 'mbx_wrong', '--yes'],
    ['passwd', 'ghost'],
  ]) {
    const { code, errors } = await run(args);
    assert.equal(code, 1);
    assert.match(errors, new RegExp(`"${args[1]}" is neither the id nor the address of a mailbox`), errors);
  }
  assert.match((await run(['show', 'ghost@people.example'])).errors, /Mailbox not found/);
});
