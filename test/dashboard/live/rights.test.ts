/** A stream watches the rights with which it begins. One of a session that ends at that moment must not go on for ever. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { watchRights } from '../../../src/dashboard/live/rights.ts';
import { createPeople } from '../../../src/dashboard/people/people.ts';
import { LoginNeeded } from '../../../src/dashboard/viewer.ts';
import { logIn } from '../../support/browser.ts';
import { openTestApp } from '../../support/test-app.ts';

const testApp = await openTestApp();
const app = { ...testApp.app, people: createPeople(testApp.app) };
after(() => testApp.close());

test('a session that ends before its stream has begun begins none, and one that ends later ends it', async () => {
  const browser = await logIn(testApp);
  const token = /\bsession=([\w-]{43})/.exec(browser.cookie())?.[1];
  const isAllowed = await watchRights(app, token);
  assert.equal(await isAllowed(), true);
  await browser.submit('logout');
  assert.equal(await isAllowed(), false);
  for (const gone of [token, undefined, 'nothing']) await assert.rejects(watchRights(app, gone), LoginNeeded);
});
