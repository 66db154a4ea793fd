/** `postrider route`: manages the routes of outgoing mail, and tells whether port 25 of other servers can be reached. */
import { readFile } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { NewRoute, ShownRoute } from '../outbound-routes/admin-schemas.ts';
import type { RelayCheck } from '../outbound-routes/check-relay.ts';
import type { PortProbe } from '../outbound-routes/port-probe.ts';
import { errorMessage } from '../system/errors.ts';
import { listAction, namesIn, requestAction, withControl } from './context.ts';
import { CommandError, UsageError } from './errors.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

type Options = Omit<NewRoute, 'hosts' | 'password' | 'ca'> & {
  mx?: true;
  relay?: string;
  caFile?: string;
};

/** Adds the commands to the program. */
export function addRouteCommands(program: Command, terminal: Terminal): void {
  const route = program
    .command('route')
    .description(
      'Manage routes of outgoing mail: through a relay (smarthost), or to the MX hosts of its domain. Without a route, all mail goes to MX hosts.',
    );
  route
    .command('list')
    .description('List all routes. The most specific one that is for a mail counts.')
    .action(listAction(terminal, { request: 'GET /outbound-routes', name: 'routes', text: formatRoutes }));
  addSetCommand(route, terminal);
  route
    .command('remove')
    .description('Remove a route. Its mail takes the next one that is for it.')
    .argument('<name>')
    .action(
      requestAction<{ name: string }>(terminal, {
        request: 'DELETE /outbound-routes/:name',
        text: ({ name }) => `Removed the route ${name}`,
      }),
    );
  route
    .command('check')
    .description('Connect to the relay of a route, verify its certificate and log in. No mail is sent.')
    .argument('<name>')
    .action((name: string, _: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = `/outbound-routes/${encodeURIComponent(name)}/check`;
        const { hosts } = await control.startWork<{ hosts: RelayCheck[] }>(path);
        show(hosts, () => formatChecks(hosts));
        if (hosts.every(({ problem }) => problem !== null))
          throw new CommandError('no mail can leave through this relay at present');
      }),
    );
  route
    .command('probe')
    .description(
      'Tell whether port 25 of other mail servers can be reached: two large receivers are dialled, and no mail is sent.',
    )
    .action((_: object, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const probe = await control.startWork<PortProbe>('/port-probe');
        show(probe, () => formatProbe(probe));
      }),
    );
}

function addSetCommand(route: Command, terminal: Terminal): void {
  route
    .command('set')
    .description(
      'Create a route, or replace the one with this name. It is for all mail, unless a tenant or a domain is given.',
    )
    .argument('<name>', 'name of the route: 1 to 40 of a-z, 0-9 and "-"')
    .option(
      '--relay <hosts>',
      'host names or addresses of the relay, in the order in which they are tried, separated by commas',
    )
    .option('--mx', 'deliver to the MX hosts of the domain, as an exception to a more general route')
    .option('--tenant <id or name>', 'only the mail of this tenant')
    .option('--domain <domain>', 'only mail to recipients at this domain')
    .option('--port <number>', 'port of the relay (default 587; 465 for TLS from the first byte)', readNumber)
    .addOption(
      new Option('--tls <kind>', 'STARTTLS, or TLS from the first byte (default starttls)').choices([
        'starttls',
        'implicit',
      ]),
    )
    .addOption(
      new Option('--tls-policy <word>', 'TLS with MX hosts, above DANE and MTA-STS of the domain').choices([
        'required-verified',
        'required',
        'opportunistic',
        'none',
      ]),
    )
    .option('--tls-name <name>', 'name in the certificate of the relay, where it is not that of the host')
    .option('--ca-file <file>', 'trust only the certificates in this PEM file')
    .option('--user <name>', 'log in as this user; the password is read from standard input')
    .option('--private', 'permit private addresses for the hosts of this relay')
    .option('--connections <number>', 'maximum number of concurrent connections', readNumber)
    .option('--recipients-per-minute <number>', 'maximum number of recipients per minute', readNumber)
    .action((name: string, options: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const wanted = await readRoute(options, terminal);
        const path = `/outbound-routes/${encodeURIComponent(name)}`;
        const saved = await control.request<ShownRoute>('PUT', path, wanted);
        const nameOf = await namesIn(saved, { command, control });
        show(saved, () => formatRoutes([saved], { nameOf }));
      }),
    );
}

async function readRoute({ mx, relay, caFile, ...settings }: Options, terminal: Terminal): Promise<NewRoute> {
  if ((mx === undefined) === (relay === undefined)) throw new UsageError('give either --relay or --mx');
  return {
    ...settings,
    ...(relay !== undefined && { hosts: relay.split(',').map((host) => host.trim()) }),
    ...(caFile !== undefined && { ca: await readCertificates(caFile) }),
    ...(settings.user !== undefined && {
      password: await terminal.readPassword(`Password of ${settings.user}: `),
    }),
  };
}

async function readCertificates(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CommandError(`--ca-file: ${errorMessage(error)}`, { cause: error });
  }
}

function readNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

function formatRoutes(routes: readonly ShownRoute[], { nameOf }: { nameOf: NameOf }): string {
  const rows = routes.map(({ name, tenantId, domain, relay, tlsPolicy, source }) => [
    name,
    tenantId === null ? 'all' : nameOf(tenantId),
    domain ?? 'all',
    relay ? `${relay.hosts.join(', ')} port ${relay.port} (${relay.tls})` : mxText(tlsPolicy),
    relay?.user ?? '',
    relay ? limitsOf(relay) : '',
    source,
  ]);
  const headings = ['name', 'tenant', 'domain', 'goes to', 'user', 'limits', 'set in'];
  return formatList(headings, rows, 'No routes: all mail goes to the MX hosts of its domain.');
}

/** The policies of the domain decide on TLS unless the operator has set `tlsPolicy` for the route. */
function mxText(tlsPolicy: ShownRoute['tlsPolicy']): string {
  return tlsPolicy === null ? 'MX hosts' : `MX hosts (TLS ${tlsPolicy})`;
}

function limitsOf({ connections, recipientsPerMinute }: NonNullable<ShownRoute['relay']>): string {
  return [
    ...(connections === null ? [] : [`${connections} connections`]),
    ...(recipientsPerMinute === null ? [] : [`${recipientsPerMinute} recipients/min`]),
  ].join(', ');
}

function formatChecks(checks: readonly RelayCheck[]): string {
  const rows = checks.map(({ host, address, tls, problem }) => [
    problem === null ? 'OK' : 'FAIL',
    host,
    address ?? '',
    tls ?? '',
    printable(problem ?? ''),
  ]);
  return formatTable(['', 'host', 'address', 'tls', 'problem'], rows);
}

const ADVICE = {
  open: 'Port 25 is open: mail can go to MX hosts.',
  blocked:
    'Port 25 is blocked. Ask your provider to open it, or send through a relay: postrider route set NAME --relay HOST --user USER',
  'no-route': 'This machine has no route to the servers.',
  unknown: 'DNS named no servers, so nothing was dialled. Check the resolver.',
};

function formatProbe({ ipv4, ipv6, dialled }: PortProbe): string {
  const rows = dialled.map(({ host, address, answered, detail }) => [
    answered ? 'OK' : 'FAIL',
    host,
    address,
    printable(detail),
  ]);
  const best = ipv4 === 'open' || ipv6 === 'open' ? 'open' : ipv4;
  return [
    ...(rows.length > 0 ? [formatTable(['', 'host', 'address', 'answer'], rows)] : []),
    `IPv4: ${ipv4}, IPv6: ${ipv6}. ${ADVICE[best]}`,
  ].join('\n');
}
