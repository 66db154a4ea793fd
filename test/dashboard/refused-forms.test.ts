/** Pages that show why a form was refused: their status, and where the reason stands. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { definePage } from '../../src/dashboard/page.ts';
import { servePages } from '../../src/dashboard/serve-pages.ts';
import { createPagesServer } from '../../src/http/pages/server.tsx';
import { AppError, type ErrorCode } from '../../src/system/errors.ts';
import { newId } from '../../src/system/ids.ts';
import { browserAt, logIn } from '../support/browser.ts';
import { openTestApp } from '../support/test-app.ts';

const testApp = await openTestApp();
after(() => testApp.close());

let code: ErrorCode = 'validation_error';
const page = definePage({
  area: 'public',
  path: '/form',
  show: async ({ failed }) => ({ title: 'Form', body: failed?.refusal.message ?? 'empty' }),
  actions: {
    act: {
      async run() {
        throw new AppError(code, `refused with ${code}`, { retryAfterSeconds: 7 });
      },
    },
  },
});

test('a form that is refused because of load has the status of the API, and others have that of a wrong form', async () => {
  const { app } = testApp;
  const server = createPagesServer(app);
  after(() => server.close());
  const assets = { version: () => '1', pathOf: (name: string) => `/assets/${name}` };
  servePages(server, { ...app, assets } as never, [page as never]);
  await server.listen({ host: '127.0.0.1', port: 0 });
  const browser = browserAt((server.server.address() as AddressInfo).port);
  for (const [refused, status, retryAfter] of [
    ['unavailable', 503, '7'],
    ['rate_limited', 429, '7'],
    ['quota_exceeded', 422, undefined],
    ['validation_error', 422, undefined],
    ['restricted_api_key', 403, undefined],
  ] as const) {
    code = refused;
    const answer = await browser.send('/form', { method: 'POST', body: '_action=act' });
    assert.deepEqual([answer.status, answer.headers['retry-after']], [status, retryAfter], refused);
    assert.match(answer.html, new RegExp(`refused with ${refused}`));
  }
});

test('the reason stands in the form that was sent, and behind the content when the page does not have that form any more', async () => {
  const owner = await logIn(testApp);
  for (const name of ['ada', 'bea'])
    await logIn(testApp, { email: `${name}@people.example`, role: 'viewer' });
  const team = '/t/default/live/team';
  const { html } = await owner.open(team);
  const [, id = ''] = /aria-label="[^"]*bea@people\.example".*?name="id" value="(per_\w+)"/s.exec(html) ?? [];
  const send = (about: string) => {
    const body = String(new URLSearchParams({ _action: 'role', id: about, role: 'none' }));
    return owner.send(team, { method: 'POST', body });
  };
  const reasons = (text: string) => text.split('role="alert"').length - 1;
  const refused = await send(id);
  assert.equal(refused.status, 422);
  assert.equal(reasons(refused.html), 1);
  assert.match(refused.html, new RegExp(`value="${id}"/>(?:(?!<form).)*role="alert"`, 's'));
  const gone = await send(newId('per', testApp.app.clock.now()));
  assert.equal(reasons(gone.html), 1);
  assert.match(gone.html, /role="alert".*<\/main>/s);
});
