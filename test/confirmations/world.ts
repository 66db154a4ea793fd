/** A tenant with double opt-in: an audience with a sender, the work that sends confirmation mail, and the public pages. */
import assert from 'node:assert/strict';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { createConfirmationKind } from '../../src/confirmations/feature.ts';
import { createPreferencesApp } from '../../src/preferences/app.tsx';
import { openSpool, SENDER_DOMAIN, type Spool } from '../support/spool.ts';
import { runDueTasks } from '../support/tasks.ts';
import type { TestMethod, TestResponse } from '../support/test-app.ts';

export const FROM = `Acme News <news@${SENDER_DOMAIN}>`;
export const FORM = 'application/x-www-form-urlencoded';
export const CONFIRM = 'action=confirm';
export const DAY_MS = 86_400_000;

type Posted = { contentType?: string; headers?: Record<string, string> };

export type World = AsyncDisposable & {
  spool: Spool;
  pages: FastifyInstance;
  audienceId: string;
  ask(method: TestMethod, path: string, body?: unknown, key?: string): Promise<TestResponse>;
  /** Creates an audience with double opt-in. */
  addAudience(optIn?: object | null): Promise<string>;
  /** Creates a pending contact with `?upsert=true`. */
  signUp(email: string, more?: object, audience?: string): Promise<TestResponse>;
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the response.
  contact(email: string, audience?: string): Promise<any>;
  /** Takes steps of the work of confirmation mail until nothing is due. */
  work(): Promise<void>;
  /** Returns the emails to an address, the oldest first, as the API shows them. */
  // biome-ignore lint/suspicious/noExplicitAny: the test checks the shape of the response.
  mailsTo(email: string, key?: string): Promise<any[]>;
  /** Returns the path of the link in the latest mail to an address. */
  linkTo(email: string): Promise<string>;
  get(path: string, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  post(path: string, payload?: string, options?: Posted): Promise<LightMyRequestResponse>;
};

/** Maximum number of steps, so that a step that achieves nothing fails the test instead of hanging it. */
const MAX_STEPS = 1_000;

export async function openWorld(): Promise<World> {
  const spool = await openSpool();
  const pages = createPreferencesApp(spool.app).app;
  await pages.ready();
  const ask: World['ask'] = (method, path, body, key = spool.liveKey) =>
    spool.request(method, `/v1${path}`, { key, ...(body !== undefined && { body }) });
  const addAudience: World['addAudience'] = async (optIn = { from: FROM }) => {
    const created = await ask('POST', '/audiences', { name: 'Readers', optIn });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    return created.body.id;
  };
  const audienceId = await addAudience();
  const mailsTo: World['mailsTo'] = async (email, key = spool.liveKey) => {
    const listed = await ask('GET', `/emails?to=${encodeURIComponent(email)}`, undefined, key);
    const mails = [];
    for (const { id } of listed.body.data)
      mails.unshift((await ask('GET', `/emails/${id}`, undefined, key)).body);
    return mails;
  };
  const get: World['get'] = (url, headers = {}) => pages.inject({ method: 'GET', url, headers });
  const post: World['post'] = (url, payload = CONFIRM, { contentType = FORM, headers = {} } = {}) =>
    pages.inject({ method: 'POST', url, payload, headers: { 'content-type': contentType, ...headers } });
  return {
    spool,
    pages,
    audienceId,
    ask,
    addAudience,
    signUp: (email, more = {}, audience = audienceId) =>
      ask('POST', `/audiences/${audience}/contacts?upsert=true`, { email, status: 'pending', ...more }),
    contact: async (email, audience = audienceId) =>
      (await ask('GET', `/audiences/${audience}/contacts/${email}`)).body,
    async work() {
      const kind = createConfirmationKind(spool.app);
      for (let step = 0; step < MAX_STEPS; step++)
        if ((await runDueTasks(spool.app, kind)).length === 0) return;
      assert.fail('the work does not end');
    },
    mailsTo,
    async linkTo(email) {
      const mail = (await mailsTo(email)).at(-1);
      const url = /https:\/\/track\.mx\.postrider\.example(\/confirm\/[\w-]+)/.exec(mail?.text ?? '');
      assert.ok(url?.[1], `no link in ${JSON.stringify(mail)}`);
      return url[1];
    },
    get,
    post,
    async [Symbol.asyncDispose]() {
      await pages.close();
      await spool.close();
    },
  };
}
