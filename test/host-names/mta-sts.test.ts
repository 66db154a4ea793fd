/** Tests of the MTA-STS policy of domains, of the record that names its id, and of pages that share the host of the API. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { request } from 'undici';
import { createApiServer, openApi } from '../../src/api.ts';
import { mtaStsRecords } from '../../src/host-names/mta-sts.ts';
import { createLinks } from '../../src/links/links.ts';
import { addDomain, HOSTNAME } from '../domains/fixtures.ts';
import { openTestApp, type TestApp } from '../support/test-app.ts';

/** Serves the API with these settings, and hands `run` what asks a host for a path. */
async function serving<Result>(
  env: Record<string, string>,
  run: (world: TestApp, ask: (host: string, path: string) => Promise<Answer>) => Promise<Result>,
): Promise<Result> {
  await using world = await openTestApp({ env: { ...env, POSTRIDER_HTTP_PORT: '0' } });
  const listener = await openApi(world.app, await createApiServer(world.app));
  try {
    return await run(world, async (host, path) => {
      const { statusCode, headers, body } = await request(`${listener.address}${path}`, {
        headers: { host },
      });
      return { status: statusCode, type: headers['content-type'], text: await body.text() };
    });
  } finally {
    await listener.close();
  }
}

type Answer = { status: number; type: string | string[] | undefined; text: string };

function policyOf(mode: string) {
  return serving({ POSTRIDER_HTTPS_MTA_STS: mode }, async (world, ask) => {
    await addDomain(world, { name: 'a.example', status: 'verified', verifiedSince: 0 });
    const path = '/.well-known/mta-sts.txt';
    assert.equal((await ask('mta-sts.other.example', path)).status, 404);
    const { type, text: body } = await ask('mta-sts.a.example', path);
    const [record] = await mtaStsRecords(world.app.config)();
    return { body, type, record };
  });
}

test('the policy allows this host alone, in the mode that the operator has chosen, and its id changes with it', async () => {
  const [testing, enforce, none] = [
    await policyOf('testing'),
    await policyOf('enforce'),
    await policyOf('none'),
  ];
  assert.equal(testing.type, 'text/plain; charset=utf-8');
  assert.equal(testing.body, `version: STSv1\r\nmode: testing\r\nmx: ${HOSTNAME}\r\nmax_age: 86400\r\n`);
  assert.equal(enforce.body, `version: STSv1\r\nmode: enforce\r\nmx: ${HOSTNAME}\r\nmax_age: 604800\r\n`);
  assert.equal(none.body, 'version: STSv1\r\nmode: none\r\nmax_age: 86400\r\n');
  assert.equal(testing.record?.name, `_mta-sts.${HOSTNAME}`);
  const values = [testing, enforce, none].map(({ record }) => record?.value ?? '');
  for (const value of values) assert.match(value, /^v=STSv1; id=[a-z0-9]{1,32}$/);
  assert.equal(new Set(values).size, 3);
});

test('a host that links.url and the API share serves both', () =>
  serving({ POSTRIDER_LINKS_URL: `https://${HOSTNAME}` }, async ({ app, tenantId }, ask) => {
    const unsubscribe = createLinks(app).unsubscribeUrl({
      ...{ tenantId, topicId: undefined, contactId: undefined, address: 'a@b.example' },
    });
    const statusOf = async (path: string) => (await ask(HOSTNAME, path)).status;
    assert.equal(await statusOf('/healthz'), 200);
    assert.equal(await statusOf('/v1/emails'), 401);
    assert.equal(await statusOf(new URL(unsubscribe).pathname), 200);
    assert.equal(await statusOf('/preferences.css'), 200);
  }));
