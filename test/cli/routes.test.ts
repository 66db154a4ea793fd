import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { createControlServer } from '../../src/control-socket.ts';
import { type Route, readRoutes } from '../support/printed-routes.ts';
import { openTestApp } from '../support/test-app.ts';

const daemon = await openTestApp();
const server = await createControlServer(daemon.app);
after(async () => {
  await server.close();
  await daemon.close();
});

const files = globSync('*.ts', { cwd: new URL('../../src/cli/', import.meta.url) }).map((file) =>
  readFileSync(new URL(`../../src/cli/${file}`, import.meta.url), 'utf8'),
);

/** Returns true when one file of the command line names the first and the last word of the path, and how it is asked for. */
function hasCommand({ method, path }: Route): boolean {
  const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'));
  const named = words.map((word) => new RegExp(`['/]${word}(?![\\w-])`));
  const asked =
    { GET: /'GET|download\(/, POST: /'POST|upload|startWork/ }[method] ?? new RegExp(`'${method}`);
  return files.some((text) => asked.test(text) && named.every((word) => word.test(text)));
}

/** Routes that the dashboard alone asks for: the command runs the checks, and the page shows what they have found last. */
const DASHBOARD_ALONE = ['GET /doctor/findings'];

test('every route of the control socket has a command', () => {
  const routes = readRoutes(server.printRoutes({ commonPrefix: false })).filter(
    ({ method }) => method !== 'HEAD',
  );
  assert.ok(routes.length > 50, `${routes.length} routes`);
  assert.ok(routes.some(({ method, path }) => method === 'POST' && path === '/domains/:name/verify'));
  assert.deepEqual(
    routes.filter((route) => !hasCommand(route)).map(({ method, path }) => `${method} ${path}`),
    DASHBOARD_ALONE,
  );
});

test('a route that no command asks for is noticed', () => {
  for (const path of ['/weather', '/domains/:name/weather'])
    assert.ok(!hasCommand({ method: 'GET', path }), path);
  assert.ok(!hasCommand({ method: 'PUT', path: '/domains' }));
});
