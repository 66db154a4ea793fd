/** Mail programs find the settings of an address by public routes of the HTTP server. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { parseMailbox } from '../../../src/mail/address.ts';
import { readElements } from '../../../src/mail/xml.ts';
import { createDiscoveryApp } from '../../../src/mailboxes/discovery/app.ts';
import { openTestApp } from '../../support/test-app.ts';
import { addMailbox, addMailboxDomain } from '../fixtures.ts';

const world = await openTestApp();
const { app: server, serves } = createDiscoveryApp(world.app);
await server.ready();
after(async () => {
  await server.close();
  await world.close();
});
await addMailboxDomain(world, 'people.example');
await addMailboxDomain(world, 'other.example');
await addMailbox(world, { address: 'ann@people.example' });
const HOST = world.app.config.hostname;

type Answer = { status: number; type: string; body: string; headers: Record<string, unknown> };

async function ask(
  host: string,
  url: string,
  { method = 'GET', body }: { method?: 'GET' | 'POST'; body?: string } = {},
): Promise<Answer> {
  const response = await server.inject({
    method,
    url,
    headers: { host, ...(body !== undefined && { 'content-type': 'text/xml' }) },
    ...(body !== undefined && { body }),
  });
  const { statusCode: status, headers } = response;
  return { status, type: String(headers['content-type']), body: response.body, headers };
}

/** Returns the texts of the leaves of an XML document by their paths. */
function leaves(document: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  // The document type of property lists declares nothing.
  const text = document.replace(/<!DOCTYPE plist [^>]*>/, '');
  readElements(text, {
    onLeaf: (path, leaf) => {
      found[path] = [...(found[path] ?? []), leaf];
    },
    onEnd: () => {},
  });
  return found;
}

const AUTOCONFIG = '/mail/config-v1.1.xml';
const AUTODISCOVER = '/autodiscover/autodiscover.xml';
const SETTINGS = 'http://schemas.microsoft.com/exchange/autodiscover/outlook/responseschema/2006a';
const requestFor = (address: string, schema = SETTINGS) =>
  `<?xml version="1.0"?><Autodiscover xmlns="http://schemas.microsoft.com/exchange/autodiscover/outlook/requestschema/2006"><Request><EMailAddress>${address}</EMailAddress><AcceptableResponseSchema>${schema}</AcceptableResponseSchema></Request></Autodiscover>`;

test('Autoconfig answers by Host, in any case, with the services of the configuration', async () => {
  for (const [host, url] of [
    ['autoconfig.people.example', AUTOCONFIG],
    ['AutoConfig.People.Example.:443', `${AUTOCONFIG.toUpperCase()}?emailaddress=x@other.example`],
    ['people.example', '/.well-known/autoconfig/mail/config-v1.1.xml'],
    [HOST, `${AUTOCONFIG}?EmailAddress=nobody%40people.example`],
  ] as const) {
    const { status, type, body } = await ask(host, url);
    assert.deepEqual([status, type], [200, 'text/xml; charset=utf-8'], host);
    assert.match(body, /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<clientConfig version="1\.1">/);
    assert.match(body, /<emailProvider id="people\.example">/);
    const server1 = 'clientConfig/emailProvider/incomingServer';
    const found = leaves(body);
    assert.deepEqual(found['clientConfig/emailProvider/domain'], ['people.example']);
    assert.deepEqual(found[`${server1}/hostname`]?.[0], HOST);
    assert.deepEqual(found[`${server1}/port`]?.[0], String(world.app.config.imap.port));
    assert.deepEqual(found[`${server1}/socketType`]?.[0], 'SSL');
    assert.deepEqual(found[`${server1}/username`]?.[0], '%EMAILADDRESS%');
    assert.doesNotMatch(body, /sieve|4190|2490/i);
    const sending = 'clientConfig/emailProvider/outgoingServer';
    const { tlsPort, port } = world.app.config.submission;
    assert.deepEqual(found[`${sending}/port`], [`${tlsPort}`, `${port}`]);
    assert.deepEqual(found[`${sending}/socketType`], ['SSL', 'STARTTLS']);
  }
});

test('an answer is the same whether an address exists or not, and a domain that is not received here has none', async () => {
  const answers = async (name: string) => {
    const address = `${name}@people.example`;
    const bodies = [
      (await ask(HOST, `${AUTOCONFIG}?emailaddress=${address}`)).body,
      (await ask(HOST, `/profile.mobileconfig?emailaddress=${address}`)).body,
      (await ask(HOST, AUTODISCOVER, { method: 'POST', body: requestFor(address) })).body,
      (await ask(HOST, `/autodiscover/autodiscover.json/v1.0/${address}?Protocol=AutodiscoverV1`)).body,
    ];
    const unlike = /[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}|(?<=\.mail\.)[0-9a-f]{16}/g;
    return bodies.map((body) => body.replaceAll(address, 'ADDRESS').replace(unlike, 'ID'));
  };
  assert.deepEqual(await answers('nobody'), await answers('ann'));
  for (const url of [AUTOCONFIG, '/profile.mobileconfig', '/.well-known/user-agent-configuration.json']) {
    assert.equal((await ask('autoconfig.unknown.example', url)).status, 404);
    assert.equal((await ask(HOST, `${url}?emailaddress=a@unknown.example`)).status, 404);
    assert.equal((await ask(HOST, url)).status, 404);
  }
});

test('Autodiscover answers XML with the settings, or with the error of its protocol', async () => {
  const post = async (body: string, host = 'autodiscover.people.example') =>
    leaves((await ask(host, '/AutoDiscover/AutoDiscover.xml', { method: 'POST', body })).body);
  const found = await post(requestFor('Ann@people.example'));
  const protocol = 'Autodiscover/Response/Account/Protocol';
  assert.deepEqual(found[`${protocol}/Type`], ['IMAP', 'POP3', 'SMTP', 'SMTP']);
  assert.deepEqual(found[`${protocol}/Server`]?.[0], HOST);
  assert.deepEqual(found[`${protocol}/LoginName`]?.[0], 'Ann@people.example');
  assert.deepEqual(found[`${protocol}/Encryption`], ['SSL', 'SSL', 'SSL', 'TLS']);
  const code = async (...[body, host]: Parameters<typeof post>) =>
    (await post(body, host))['Autodiscover/Response/Error/ErrorCode']?.[0];
  assert.equal(await code(''), '600');
  assert.equal(await code('{}'), '600');
  assert.equal(await code(requestFor('')), '600');
  assert.equal(await code(requestFor('a@people.example', 'mobilesync/responseschema/2006')), '601');
  assert.equal(await code(requestFor('a@unknown.example'), HOST), '500');
  assert.equal(await code(requestFor('no address')), '500');
  assert.equal(await code(requestFor('bob@elsewhere.example')), '500', 'the host is not its domain');
  const entities = `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>${requestFor('&b;@people.example')}`;
  assert.equal(await code(entities), '600');
  const file = `<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>${requestFor('&f;')}`;
  assert.equal(await code(file), '600');
  assert.equal(await code('<a>'.repeat(1_000)), '600');
  const large = await ask(HOST, AUTODISCOVER, { method: 'POST', body: ' '.repeat(17 * 1024) });
  assert.equal(large.status, 413);
  assert.equal((await ask(HOST, AUTODISCOVER)).status, 405);
});

test('an address in UTF-8 comes back as it is in each format, from percent-encoding and from XML', async () => {
  const address = 'jürgen@people.example';
  const query = encodeURIComponent(address);
  const profile = await ask(HOST, `/profile.mobileconfig?emailaddress=${query}`);
  assert.equal(profile.body.match(/<string>jürgen@people\.example<\/string>/g)?.length, 5);
  const spelled = await ask(
    HOST,
    `/profile.mobileconfig?emailaddress=${encodeURIComponent('JU\u0308RGEN@people.example')}`,
  );
  const idOf = ({ body }: Answer) => /<key>PayloadIdentifier<\/key><string>([^<]+)<\/string>/.exec(body)?.[1];
  assert.equal(idOf(spelled), idOf(profile), 'one account has one profile');
  for (const written of [address, 'j&#xfc;rgen@people.example']) {
    const { body } = await ask(HOST, AUTODISCOVER, { method: 'POST', body: requestFor(written) });
    assert.equal(leaves(body)['Autodiscover/Response/Account/Protocol/LoginName']?.[0], address);
  }
  assert.equal((await ask(HOST, `${AUTOCONFIG}?emailaddress=${query}`)).status, 200);
  const v2 = `/autodiscover/autodiscover.json/v1.0/${query}?protocol=AutoDiscoverV1`;
  assert.equal((await ask(HOST, v2)).status, 200);
  for (const hostile of ['a\u202eb', 'a\0b', '\ufffd'])
    assert.equal(
      (await ask(HOST, `/profile.mobileconfig?emailaddress=${encodeURIComponent(hostile)}@people.example`))
        .status,
      404,
    );
});

test('both versions of Autodiscover in JSON lead to the XML at a host of the domain, or of the installation', async () => {
  const v1 = '/autodiscover/autodiscover.json?Email=a@people.example&Protocol=Autodiscoverv1';
  const v2 = '/Autodiscover/autodiscover.json/v1.0/a@people.example?protocol=AutoDiscoverV1';
  for (const url of [v1, v2]) {
    for (const [host, origin] of [
      ['autodiscover.people.example:443', 'https://autodiscover.people.example'],
      [HOST, `https://${HOST}`],
      ['people.example', `https://${HOST}`],
      ['evil.example', `https://${HOST}`],
    ] as const) {
      const { status, type, body } = await ask(host, url);
      assert.deepEqual([status, type], [200, 'application/json; charset=utf-8']);
      assert.deepEqual(JSON.parse(body), {
        Protocol: 'AutodiscoverV1',
        Url: `${origin}/autodiscover/autodiscover.xml`,
      });
    }
    const other = await ask(HOST, url.replace(/autodiscoverv1/i, 'ActiveSync'));
    assert.deepEqual([other.status, JSON.parse(other.body).ErrorCode], [400, 'InvalidProtocol']);
  }
});

test('the profile for Apple devices has no password, and keeps its identifiers', async () => {
  const profile = (address: string) => ask('people.example', `/profile.mobileconfig?emailaddress=${address}`);
  const { status, headers, type, body } = await profile('ann@people.example');
  assert.deepEqual([status, type], [200, 'application/x-apple-aspen-config; charset=utf-8']);
  assert.equal(headers['content-disposition'], 'attachment; filename="people.example.mobileconfig"');
  assert.doesNotMatch(body, /<key>(?:Incoming|Outgoing)Password</);
  assert.match(body, /<key>EmailAddress<\/key>\n<string>ann@people\.example<\/string>/);
  assert.match(body, /<key>OutgoingMailServerUsername<\/key>\n<string>ann@people\.example<\/string>/);
  assert.match(body, /<key>IncomingMailServerUsername<\/key>\n<string>ann@people\.example<\/string>/);
  assert.equal((await profile('ann@people.example')).body, body);
  const uuids = (text: string) =>
    text.match(/[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/g);
  const own: string[] = uuids(body) ?? [];
  assert.equal(new Set(own).size, 2);
  assert.deepEqual(uuids((await profile('ANN@people.example')).body), own);
  assert.ok(uuids((await profile('bob@people.example')).body)?.every((uuid) => !own.includes(uuid)));
  const without = (await ask('people.example', '/profile.mobileconfig')).body;
  assert.doesNotMatch(without, /EmailAddress<|Username/);
  assert.equal((await profile('bob@elsewhere.example')).body, without, 'an address at another domain');
});

test('the JSON for other programs names the services at standard ports', async () => {
  const { status, body } = await ask(
    'ua-auto-config.people.example',
    '/.well-known/user-agent-configuration.json',
  );
  assert.equal(status, 200);
  const { protocols, authentication, info } = JSON.parse(body);
  assert.deepEqual(protocols.imap, world.app.config.imap.port === 993 ? { host: HOST } : undefined);
  assert.deepEqual(authentication, { password: true });
  assert.deepEqual(info, { provider: { name: 'people.example', shortName: 'people.example' } });
});

test('nothing in a Host or an address ends an element, a string or a header', async () => {
  const hostile = [
    '"><x>',
    "'&<!--",
    ']]>',
    '\u0000\u001f',
    '\r\nX: y',
    '%00',
    '\ud800',
    '&amp;',
    '"},{"a":"',
  ];
  for (const part of hostile) {
    const address = `"a${part.replace(/["\\]/g, '\\$&')}b"@people.example`;
    const query = encodeURIComponent(address.toWellFormed());
    for (const url of [
      `${AUTOCONFIG}?emailaddress=${query}`,
      `/profile.mobileconfig?emailaddress=${query}`,
      `/.well-known/user-agent-configuration.json?emailaddress=${query}`,
      `/autodiscover/autodiscover.json?protocol=autodiscoverv1&email=${query}`,
      `/autodiscover/autodiscover.json/v1.0/${query}?protocol=autodiscoverv1`,
    ]) {
      const { status, type, body, headers } = await ask('people.example', url);
      assert.ok([200, 404].includes(status), `${status} ${url}`);
      assert.equal(headers.x, undefined);
      if (status === 404) continue;
      if (type.startsWith('application/json')) assert.ok(JSON.parse(body), body);
      else {
        assert.doesNotMatch(body, /<x|<!--/);
        assert.ok(Object.keys(leaves(body)).every((path) => !path.includes('x>')));
        const strings = leaves(body)['plist/dict/array/dict/string'];
        const hasAddress = body.includes('<key>EmailAddress</key>');
        assert.equal(
          hasAddress,
          url.startsWith('/profile') && strings?.includes(parseMailbox(address)?.address ?? ''),
          url,
        );
      }
    }
    const escaped = address.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);
    const { body } = await ask(HOST, AUTODISCOVER, { method: 'POST', body: requestFor(escaped) });
    assert.doesNotMatch(body, /<x|<!--/);
    const found = leaves(body);
    assert.ok(
      found['Autodiscover/Response/Account/Action'] ?? found['Autodiscover/Response/Error/ErrorCode'],
    );
  }
  for (const host of [
    'people.example"><x>',
    'a.people.example',
    'people.example/..',
    '<people.example>',
    '',
  ]) {
    const { status, body } = await ask(host, AUTOCONFIG);
    assert.equal(status, 404, host);
    assert.doesNotMatch(body, /<x/);
  }
});

test('the app is served for its paths in any case on every host, for all paths of the hosts of discovery, and for no others', () => {
  for (const path of [
    ...['/mail/config-v1.1.xml', '/Mail/Config-V1.1.xml', '/.well-known/autoconfig/mail/config-v1.1.xml'],
    ...['/AutoDiscover/AutoDiscover.xml', '/autodiscover/autodiscover.json', '/profile.mobileconfig'],
    ...['/autodiscover/autodiscover.json/v1.0/a@b.example', '/.well-known/user-agent-configuration.json'],
  ])
    assert.ok(serves('any.example', path), path);
  for (const path of [
    '/',
    '/v1/emails',
    '/mail',
    '/autodiscover/autodiscover.jsonx',
    '/profile.mobileconfig/x',
  ])
    assert.deepEqual(
      [serves('any.example', path), serves('autoconfig.people.example', path)],
      [false, true],
      path,
    );
});
