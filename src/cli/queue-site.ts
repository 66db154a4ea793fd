/** `postrider queue site`: shows how a site is spoken to, and what keeps its mail. */
import type { Command } from 'commander';
import type { ShownSite } from '../queue/control/site-api.ts';
import { withControl } from './context.ts';
import { shownTenant } from './shown-tenant.ts';
import { counted, formatTable, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to `postrider queue`. */
export function addQueueSite(queue: Command, terminal: Terminal): void {
  queue
    .command('site')
    .description(
      'Show the limits of a site with their origins, which one binds now, and the back-off rules in force.',
    )
    .argument('<site>', 'one of the hosts of the site, its whole key, or a domain')
    .action((name: string, _options: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = `/queue/site?${new URLSearchParams({ name })}`;
        const answer = await control.request<{ sites: ShownSite[] }>('GET', path);
        show(answer, () => answer.sites.map(siteText).join('\n\n'));
      }),
    );
}

function siteText(site: ShownSite): string {
  const { provider, source, sessions, idleSessions, allowedConnections, claimed, queues } = site;
  return [
    `Site ${printable(site.site)}`,
    `Provider: ${provider ?? 'none of the table'}; source: ${source ?? 'chosen by the system'}`,
    `Binds now: ${bindingText(site.binding)}`,
    `Connections: ${sessions} of ${allowedConnections} allowed now, ${idleSessions} idle`,
    `Mail: ${counted(claimed, 'message')} claimed, ${counted(queues, 'queue')} due`,
    formatTable(['limit', 'value', 'from'], site.limits.map(limitRow)),
    ...site.restrictions.map(restrictionLine),
    ...site.restingTenants.map(
      ({ tenantId, until, reason }) =>
        `Tenant ${shownTenant(tenantId)} rests until ${until}: ${printable(reason)}`,
    ),
  ].join('\n');
}

const BINDINGS: Record<ShownSite['binding']['limit'], string> = {
  none: 'nothing',
  rest: 'the site rests',
  probe: 'one message tries the site after a rest',
  pause: 'a pause after a failure of this server',
  recipients_per_minute: 'recipientsPerMinute',
  connections_per_minute: 'connectionsPerMinute',
  group_connections: 'providerConnections',
  connections: 'connections',
  learned_connections: 'the number of connections that the site has taken so far',
  all_connections: 'delivery.connections: all connections of this server are open',
};

function bindingText({ limit, until, reason }: ShownSite['binding']): string {
  const end = until === null ? '' : ` until ${until}`;
  return `${BINDINGS[limit]}${end}${reason === null ? '' : `: ${printable(reason)}`}`;
}

function limitRow({ limit, value, origin }: ShownSite['limits'][number]): string[] {
  return [limit, value === null ? 'none' : String(value), originText(origin)];
}

function originText(origin: ShownSite['limits'][number]['origin']): string {
  switch (origin.kind) {
    case 'route':
      return `route ${printable(origin.name)}`;
    case 'setting':
      return `setting ${printable(origin.name)}`;
    case 'provider':
      return `provider ${origin.name}`;
    case 'rule':
      return `rule ${origin.name} until ${origin.until}`;
    case 'default':
      return 'default';
  }
}

function restrictionLine({
  rule,
  place,
  tenantId,
  source,
  lower,
  until,
  reason,
}: ShownSite['restrictions'][number]) {
  const whose = [
    ...(tenantId === null ? [] : [`of tenant ${shownTenant(tenantId)}`]),
    ...(source === null ? [] : [`from ${printable(source)}`]),
  ];
  const action =
    lower === null
      ? 'rest'
      : Object.entries(lower)
          .map(([name, value]) => `${name} ${value}`)
          .join(', ');
  return `Rule ${[rule, ...whose].join(' ')} at ${printable(place)}: ${action} until ${until}: ${printable(reason)}`;
}
