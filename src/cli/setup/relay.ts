/** Makes the route through a relay for all mail, where port 25 is blocked. */
import { type Finding, findingsOf } from '../../doctor/check.ts';
import type { RelayCheck } from '../../outbound-routes/check-relay.ts';
import type { ControlClient } from '../control-client.ts';
import type { Terminal } from '../terminal.ts';
import type { Answers } from './answers.ts';

const { ok, fail } = findingsOf('relay');

const ROUTE = 'relay';

type Setting = { control: ControlClient; terminal: Terminal };

/** Sets the route, and logs in to the relay. Nothing happens without one. */
export async function setRelay({ control, terminal }: Setting, { relay }: Answers): Promise<Finding[]> {
  if (!relay) return [];
  const { host, port, tls, user } = relay;
  const password =
    user === undefined ? undefined : await terminal.readPassword(`Password of ${user} at ${host}: `);
  await control.request('PUT', `/outbound-routes/${ROUTE}`, {
    hosts: [host],
    port,
    tls,
    ...(password !== undefined && { user, password }),
  });
  const { hosts } = await control.startWork<{ hosts: RelayCheck[] }>(`/outbound-routes/${ROUTE}/check`);
  const problem = hosts.map((one) => one.problem).find((one) => one !== null);
  const subject = `${host}:${port}`;
  if (problem === undefined) return [ok(subject, 'all mail goes through it')];
  return [fail(subject, `it cannot be used: ${problem}`, 'run this again with the right --relay')];
}
