/**
 * Checks that mail can leave: the mail servers of two large providers are connected to, and one greeting suffices. Many hosting
 * providers block outgoing connections to port 25. Where all mail goes through a relay, the port is not needed.
 */
import { findOutboundRoute } from '../../outbound-routes/find.ts';
import { probePort25 } from '../../outbound-routes/port-probe.ts';
import { type Check, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('outbound-port');

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
    const { dialled } = await probePort25(context);
    const greeted = dialled.find(({ answered }) => answered);
    if (greeted) return [ok(subject, `${greeted.host} answers`)];
    if (dialled.length === 0)
      return [warn(subject, 'nothing is known: DNS names no mail servers', 'see to DNS first')];
    const reasons = dialled.map(({ host, detail }) => `${host}: ${detail}`).join('; ');
    const advice =
      'ask your provider to open outgoing port 25, or send through a relay: postrider route set --help';
    return [fail(subject, `no mail server can be reached (${reasons})`, advice)];
  },
};
