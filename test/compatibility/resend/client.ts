/** Resend's own client, as a program has it that was written for Resend: only the environment differs. */
import assert from 'node:assert/strict';
import { Resend } from 'resend';
import type { TestApp } from '../../support/test-app.ts';

/** Answer of a call of the client. */
type Answered<Data> = {
  data: Data | null;
  error: { name: string; message: string; statusCode: number | null } | null;
};

/** Returns the function that makes clients of an application, each with a key. The application listens on loopback. */
export async function clientsOf(testApp: TestApp, port = 0): Promise<(key?: string) => Resend> {
  const server = await testApp.openServer();
  const origin = await server.listen({ host: '127.0.0.1', port });
  process.env['RESEND_BASE_URL'] = `${origin}/compat/resend`;
  return (key = testApp.testKey) => new Resend(key);
}

/** Returns the data of a call that succeeded. */
export async function dataOf<Data>(call: Promise<Answered<Data>>): Promise<Data> {
  const { data, error } = await call;
  assert.equal(error, null);
  assert.ok(data);
  return data;
}

/** Returns the refusal of a call as `status name: message`. */
export async function refusalOf(call: Promise<Answered<unknown>>): Promise<string> {
  const { data, error } = await call;
  assert.equal(data, null);
  assert.ok(error);
  return `${error.statusCode} ${error.name}: ${error.message}`;
}
