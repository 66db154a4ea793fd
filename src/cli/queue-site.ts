/** `postrider queue site`: shows how a site is spoken to and what keeps its mail, ends connections, lifts rests and restrictions, and forgets what was learned. */
import { type Command, InvalidArgumentError } from 'commander';
import type {
  ShownDisconnections,
  ShownLifted,
  ShownSite,
  ShownUnlearned,
} from '../queue/control/site-api.ts';
import { namesIn, withControl } from './context.ts';
import type { ControlClient } from './control-client.ts';
import { UsageError } from './errors.ts';
import { counted, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

/** Adds the command to `postrider queue`. */
export function addQueueSite(queue: Command, terminal: Terminal): void {
  queue
    .command('site')
    .description(
      'Show the limits of a site with their origins, which one binds now, the back-off rules in force, and the open connections. Or end connections, lift what keeps the site, or forget what was learned about it.',
    )
    .argument('<site>', 'one of the hosts of the site, its whole key, or a domain')
    .option(
      '--disconnect [id]',
      'end this connection, or all of the site: an idle one at once, another after its message',
      readId,
    )
    .option(
      '--force',
      'end them in the middle of a message too, which may then arrive twice if its end was sent',
    )
    .option(
      '--lift [rule]',
      'lift what this back-off rule has imposed, or all rests and restrictions: one message then tries a site that has rested',
    )
    .option(
      '--reset',
      'forget what was learned about the site: the connections that it takes, its failures and rests, and how often its replies have met rules',
    )
    .action((name: string, options: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const { answer, text } = await perform(control, name, options);
        const nameOf = await namesIn(answer, { command, control });
        show(answer, () => text(nameOf));
      }),
    );
}

/** An option without its value is true. */
type Options = { disconnect?: number | true; force?: true; lift?: string | true; reset?: true };
type Performed = { answer: unknown; text: (nameOf: NameOf) => string };

function readId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new InvalidArgumentError('Give the number of a connection.');
  return Number(text);
}

async function perform(
  control: Pick<ControlClient, 'request'>,
  name: string,
  { disconnect, force, lift, reset }: Options,
): Promise<Performed> {
  if ([disconnect, lift, reset].filter((one) => one !== undefined).length > 1)
    throw new UsageError('give one of --disconnect, --lift and --reset');
  if (force && disconnect === undefined) throw new UsageError('--force needs --disconnect');
  if (disconnect !== undefined) {
    const asked = { name, ...(disconnect !== true && { connection: disconnect }), ...(force && { force }) };
    const answer = await control.request<ShownDisconnections>('POST', '/queue/site/disconnect', asked);
    return { answer, text: () => disconnectedText(answer) };
  }
  if (lift !== undefined) {
    const asked = { name, ...(lift !== true && { restriction: lift }) };
    const answer = await control.request<ShownLifted>('POST', '/queue/site/lift', asked);
    return { answer, text: (nameOf) => liftedText(answer, nameOf) };
  }
  if (reset) {
    const answer = await control.request<ShownUnlearned>('POST', '/queue/site/reset', { name });
    return { answer, text: () => answer.forgotten.map(forgottenText).join('\n') };
  }
  const path = `/queue/site?${new URLSearchParams({ name })}`;
  const answer = await control.request<{ sites: ShownSite[] }>('GET', path);
  return { answer, text: (nameOf) => answer.sites.map((site) => siteText(site, nameOf)).join('\n\n') };
}

const ENDS: Record<ShownDisconnections['disconnected'][number]['how'], string> = {
  closed: 'closed',
  after_message: 'ends after the message that it sends (--force cuts it off)',
  cut: 'cut off',
};

function disconnectedText({ disconnected }: ShownDisconnections): string {
  if (disconnected.length === 0) return 'No connection is open.';
  return disconnected.map((one) => `Connection ${one.id}${placeText(one)}: ${ENDS[one.how]}`).join('\n');
}

function placeText({ host, address }: { host: string | null; address: string | null }): string {
  return host === null ? '' : ` to ${printable(host)} [${address}]`;
}

function liftedText({ lifted }: ShownLifted, nameOf: NameOf): string {
  if (lifted.length === 0) return 'Nothing keeps this site: it does not rest, and no rule is in force.';
  return lifted
    .map((one) =>
      one.kind === 'rest'
        ? `Lifted the rest of ${printable(one.site)}: ${printable(one.reason ?? '')}`
        : `Lifted: ${restrictionLine(one, nameOf)}`,
    )
    .join('\n');
}

function forgottenText({ site, failures }: ShownUnlearned['forgotten'][number]): string {
  return `Forgot what ${printable(site)} has taught: ${counted(failures, 'failure')} in a row, and the connections that it takes`;
}

function learnedText({ connections, ceilingUntil, failures }: ShownSite['learned']): string {
  const end = ceilingUntil === null ? '' : ` until ${ceilingUntil}, because it has refused another one`;
  return `at most ${counted(connections, 'connection')}${end}; ${counted(failures, 'failure')} in a row`;
}

function siteText(site: ShownSite, nameOf: NameOf): string {
  const { provider, source, sessions, idleSessions, allowedConnections, claimed, queues, connections } = site;
  return [
    `Site ${printable(site.site)}`,
    `Provider: ${provider ?? 'none of the table'}; source: ${source ?? 'chosen by the system'}`,
    `Binds now: ${bindingText(site.binding)}`,
    `Connections: ${sessions} of ${allowedConnections} allowed now, ${idleSessions} idle`,
    `Learned: ${learnedText(site.learned)}`,
    `Mail: ${counted(claimed, 'message')} claimed, ${counted(queues, 'queue')} due`,
    formatTable(['limit', 'value', 'from'], site.limits.map(limitRow)),
    ...(connections.length === 0
      ? []
      : [
          '',
          formatTable(
            CONNECTION_HEADINGS,
            connections.map((one) => connectionRow(one, nameOf)),
          ),
        ]),
    ...site.restrictions.map((one) => restrictionLine(one, nameOf)),
    ...site.restingTenants.map(
      ({ tenantId, until, reason }) =>
        `Tenant ${nameOf(tenantId)} rests until ${until}: ${printable(reason)}`,
    ),
  ].join('\n');
}

const CONNECTION_HEADINGS = ['connection', 'host', 'address', 'TLS', 'since', 'messages', 'state', 'tenant'];

function connectionRow(connection: ShownSite['connections'][number], nameOf: NameOf): string[] {
  const { id, host, address, tls, since, messages, state, tenantId } = connection;
  return [
    String(id),
    printable(host ?? '-'),
    address ?? '-',
    tls ?? 'none',
    since?.replace(/\.\d+Z$/, 'Z') ?? '-',
    String(messages),
    state,
    tenantId === null ? '-' : nameOf(tenantId),
  ];
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

function restrictionLine(
  { rule, place, tenantId, source, lower, until, reason }: ShownSite['restrictions'][number],
  nameOf: NameOf,
) {
  const whose = [
    ...(tenantId === null ? [] : [`of tenant ${nameOf(tenantId)}`]),
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
