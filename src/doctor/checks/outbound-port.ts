/**
 * Checks that mail can leave: the mail servers of two large providers are connected to over each family of addresses, and one greeting
 * suffices. Many hosting providers block outgoing connections to port 25, some over one family alone. Where all mail goes through a
 * relay, the port is not needed.
 */
import { isIP } from 'node:net';
import { findOutboundRoute } from '../../outbound-routes/find.ts';
import { type PortProbe, probePort25 } from '../../outbound-routes/port-probe.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('outbound-port');

const OPEN_IT =
  'ask your provider to open outgoing port 25, or send through a relay: postrider route set --help';
const RELEASE =
  'run "postrider restore release" once the installation that it is a copy of never starts again';

export const outboundPort: Check = {
  name: 'outbound-port',
  isForProduction: true,
  async run(context) {
    const subject = `port ${context.config.outbound.smtpPort}`;
    if (context.egress.isHeld)
      return [warn(subject, 'nothing is dialled, because this installation was restored', RELEASE)];
    // No tenant and no domain have these names, so this is the route of all mail that no other route is for.
    const route = await findOutboundRoute(context, { tenantId: '', domain: '' });
    if (route?.relay)
      return [ok(subject, `it is not needed: mail goes through the relay of the route "${route.name}"`)];
    const probe = await probePort25(context);
    const { dialled } = probe;
    const greeted = dialled.find(({ answered }) => answered);
    if (greeted) return [ok(subject, `${greeted.host} answers`), ...blockedFamily(subject, probe, context)];
    if (dialled.length === 0)
      return [warn(subject, 'nothing is known: DNS names no mail servers', 'see to DNS first')];
    return [fail(subject, `no mail server can be reached (${reasonsOf(dialled)})`, OPEN_IT)];
  },
};

/** Returns a warning about the family that is blocked while the other is open. One that this machine has no address of is none. */
function blockedFamily(
  subject: string,
  { ipv4, ipv6, dialled }: PortProbe,
  { config }: Pick<CheckContext, 'config'>,
): Finding[] {
  const says = (family: 4 | 6) => {
    const reasons = reasonsOf(dialled.filter(({ address }) => isIP(address) === family));
    return `no mail server can be reached over IPv${family} (${reasons})`;
  };
  if (ipv4 === 'blocked') return [warn(`${subject} over IPv4`, says(4), OPEN_IT)];
  if (ipv6 !== 'blocked' || !config.outbound.ipv6) return [];
  const advice = 'ask your provider to open it over IPv6 too, or send over IPv4 alone (outbound.ipv6: false)';
  return [warn(`${subject} over IPv6`, says(6), advice)];
}

function reasonsOf(dialled: PortProbe['dialled']): string {
  return dialled.map(({ host, detail }) => `${host}: ${detail}`).join('; ');
}
