/** Orders behind a proxy that passes the path of challenges on to the plain listener. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiServer } from '../../src/api.ts';
import type { IssuedChallenge } from '../support/acme-authority.ts';
import { HOSTNAME, openOrderingHost } from './acme/host.ts';

const BEHIND_PROXY = { POSTRIDER_HTTPS_ENABLED: 'false', POSTRIDER_HTTP_PUBLIC_URL: `https://${HOSTNAME}` };

/** Opens a host whose authority asks the server of the API, as the proxy passes its requests on. */
async function openProxiedHost(env: Record<string, string> = BEHIND_PROXY) {
  const host = await openOrderingHost({ env, behaviour: { challengeTypes: ['tls-alpn-01', 'http-01'] } });
  const server = await createApiServer(host.app, { challenges: host.challenges });
  const ask = async (token: string, name: string = HOSTNAME) => {
    const url = `/.well-known/acme-challenge/${token}`;
    const { statusCode, body } = await server.inject({ url, headers: { host: name } });
    return { status: statusCode, body };
  };
  return { host, server, ask };
}

test('the hostname is proven over port 80 behind a proxy, and its answer is there for its name, its token and its order alone', async () => {
  const { host, server, ask } = await openProxiedHost();
  await using _ = host;
  const seen: unknown[] = [];
  let asked = '';
  host.authority.behaviour.validate = async ({ type, name, token, keyAuthorization }: IssuedChallenge) => {
    asked = token;
    const answers = [
      await ask(token, `${name}:80`),
      await ask(token, 'other.example'),
      await ask(`${token}a`),
    ];
    seen.push(type, ...answers.map(({ status }) => status));
    return answers[0]?.body === keyAuthorization ? undefined : 'wrong answer';
  };
  await host.updateNames();
  await host.run();
  assert.equal((await host.row()).lastError, null);
  assert.deepEqual(seen, ['http-01', 200, 404, 404]);
  assert.equal((await ask(asked)).status, 404);
  await server.close();
});

test('without a public URL with TLS nobody passes challenges on, so none is answered or asked for', async () => {
  for (const publicUrl of ['', `http://${HOSTNAME}`]) {
    const { host, server, ask } = await openProxiedHost({
      ...BEHIND_PROXY,
      POSTRIDER_HTTP_PUBLIC_URL: publicUrl,
    });
    await using _ = host;
    await host.updateNames();
    await host.run();
    assert.match(
      (await host.row()).lastError ?? '',
      /http-01: https\.enabled is false, and http\.publicUrl names/,
    );
    assert.deepEqual(host.authority.orders, []);
    using _offered = host.challenges.offerHttp({ name: HOSTNAME, token: 'a', keyAuthorization: 'b' });
    assert.equal((await ask('a')).status, 404);
    await server.close();
  }
});

test('the plain listener answers no challenge where HTTPS has its own ports', async () => {
  const { host, server, ask } = await openProxiedHost({ POSTRIDER_HTTP_PUBLIC_URL: `https://${HOSTNAME}` });
  await using _ = host;
  using _offered = host.challenges.offerHttp({ name: HOSTNAME, token: 'a', keyAuthorization: 'b' });
  assert.equal((await ask('a')).status, 404);
  await server.close();
});
