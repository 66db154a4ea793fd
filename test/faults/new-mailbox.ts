/** Makes the mailboxes of a world. */
import type { Id } from '../../src/system/ids.ts';
import type { DaemonProcess } from '../support/daemon.ts';
import { withRetries } from './retries.ts';
import type { World } from './world.ts';

export const PASSWORD = 'a password of the tests';

type Made = { id: Id<'mbx'>; password: string };

/** Lets the domain of the world have mailboxes. */
export async function allowMailboxes({ key, domainId }: World, daemon: DaemonProcess): Promise<void> {
  const path = `/v1/domains/${domainId}`;
  const changed = await withRetries(() => daemon.request('PATCH', path, key, { productType: 'both' }));
  if (changed.status !== 200) throw new Error(`PATCH ${path}: ${JSON.stringify(changed.body)}`);
}

/** Creates a mailbox, and returns its id. */
export async function createMailbox(
  world: World,
  daemon: DaemonProcess,
  address: string,
): Promise<Made['id']> {
  return (await make(world, daemon, { path: '/v1/mailboxes', body: { address, password: PASSWORD } })).id;
}

/** Creates an app password, with which a login costs no time, and returns it. */
export async function createAppPassword(
  world: World,
  daemon: DaemonProcess,
  id: Made['id'],
): Promise<string> {
  const path = `/v1/mailboxes/${id}/app-passwords`;
  return (await make(world, daemon, { path, body: { name: 'faults' } })).password;
}

async function make(
  { key }: World,
  daemon: DaemonProcess,
  { path, body }: { path: string; body: object },
): Promise<Made> {
  const made = await withRetries(() => daemon.request('POST', path, key, body));
  if (made.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(made.body)}`);
  return made.body as Made;
}
