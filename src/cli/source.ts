/** `postrider source`: shows the addresses from which mail leaves, suspends, resumes and probes them, and warms them up. */
import type { Command } from 'commander';
import type { ShownProbe, ShownSources } from '../queue/sources/admin-api.ts';
import type { ShownPool, ShownSource } from '../queue/sources/list.ts';
import type { WarmUpProgress } from '../queue/sources/warm-up/progress.ts';
import { isoTime } from '../system/clock.ts';
import { requestAction, withControl } from './context.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addSourceCommands(program: Command, terminal: Terminal): void {
  const source = program
    .command('source')
    .description(
      'Show the sources of outgoing mail, which are the addresses from which it leaves (outbound.sources), suspend, resume and probe them, and warm them up.',
    );
  source
    .command('list')
    .description('List all sources and pools, and whether a source is suspended, why and until when.')
    .action(
      requestAction<ShownSources>(terminal, {
        request: 'GET /sources',
        text: ({ sources, pools }, { nameOf }) =>
          [formatSources(sources), ...(pools.length === 0 ? [] : [formatPools(pools, nameOf)])].join('\n\n'),
      }),
    );
  addSuspensionCommands(source, terminal);
  addWarmUpCommands(source, terminal);
}

function addSuspensionCommands(source: Command, terminal: Terminal): void {
  source
    .command('suspend')
    .description('Let no mail leave from a source until it is resumed, also after a restart.')
    .argument('<name>')
    .option('--reason <text>', 'why, as the list and the log show it')
    .action((name: string, { reason }: { reason?: string }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = `/sources/${encodeURIComponent(name)}/suspension`;
        const body = reason === undefined ? {} : { reason };
        const answer = await control.request<{ name: string }>('PUT', path, body);
        show(
          answer,
          () => `Suspended the source ${answer.name}. Mail that is about to be sent still leaves from it.`,
        );
      }),
    );
  source
    .command('resume')
    .description('Use a source again, whether it was suspended by hand or because an address has failed.')
    .argument('<name>')
    .action(
      requestAction<{ name: string }>(terminal, {
        request: 'DELETE /sources/:name/suspension',
        text: ({ name }) => `Resumed the source ${name}`,
      }),
    );
  source
    .command('probe')
    .description(
      'Find out now, without any mail, whether mail can leave from each address of a source. One that fails is suspended, and one that answers is used again.',
    )
    .argument('<name>')
    .action(requestAction<ShownProbe>(terminal, { request: 'POST /sources/:name/probe', text: formatProbe }));
}

function formatProbe({ addresses }: ShownProbe): string {
  return addresses
    .map(
      ({ address, fault }) => `${address}: ${fault === null ? 'mail can leave from it' : printable(fault)}`,
    )
    .join('\n');
}

function addWarmUpCommands(source: Command, terminal: Terminal): void {
  const warmUp = source
    .command('warm-up')
    .description('Let a new source begin with little mail, and with more each day.');
  warmUp
    .command('start')
    .description('Start the warm-up of a source on its first day.')
    .argument('<name>')
    .option('--curve <name>', 'curve of config/warm-up.yaml (default standard)')
    .action((name: string, { curve }: { curve?: string }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const path = `/sources/${encodeURIComponent(name)}/warm-up`;
        const shown = await control.request<ShownSource>('PUT', path, curve === undefined ? {} : { curve });
        show(shown, () => formatWarmUps([shown]));
      }),
    );
  warmUp
    .command('stop')
    .description('End the warm-up of a source, which then sends any number of emails.')
    .argument('<name>')
    .action(
      requestAction<{ name: string }>(terminal, {
        request: 'DELETE /sources/:name/warm-up',
        text: ({ name }) => `Ended the warm-up of the source ${name}`,
      }),
    );
  warmUp
    .command('show')
    .description('Show how far the warm-ups have come, and what was sent today.')
    .action(
      requestAction<{ sources: ShownSource[] }>(terminal, {
        request: 'GET /sources',
        text: ({ sources }) => formatWarmUps(sources),
      }),
    );
}

function formatSources(sources: readonly ShownSource[]): string {
  const rows = sources.map(({ name, addresses, ehlo, proxy, pools, ...source }) => [
    name,
    addresses.join(', '),
    ehlo,
    proxy ? `${proxy.kind} ${proxy.address} port ${proxy.port}` : 'this machine',
    pools.join(', '),
    describeState(source),
  ]);
  const headings = ['name', 'addresses', 'EHLO', 'through', 'pools', 'state'];
  return formatList(headings, rows, 'No sources: mail leaves from the address that the system chooses.');
}

function formatPools(pools: readonly ShownPool[], nameOf: NameOf): string {
  const rows = pools.map(({ name, sources, tenantId, domain, kind }) => [
    name,
    sources.join(', '),
    tenantId === null ? 'all' : nameOf(tenantId),
    domain ?? 'all',
    kind ?? 'all',
  ]);
  return formatTable(['pool', 'sources', 'mail of tenant', 'to domain', 'kind'], rows);
}

function describeState({
  suspendedByHand,
  suspended,
  warmUp,
}: Pick<ShownSource, 'suspendedByHand' | 'suspended' | 'warmUp'>): string {
  if (suspendedByHand) return describeByHand(suspendedByHand);
  return suspended.length === 0 ? describeUse(warmUp) : suspended.map(describeSuspension).join('; ');
}

function describeByHand({ reason, since }: NonNullable<ShownSource['suspendedByHand']>): string {
  const begun = `suspended by the operator since ${isoTime(since)}`;
  return reason === null ? begun : `${begun}: ${printable(reason)}`;
}

function describeUse(warmUp: WarmUpProgress | null): string {
  return warmUp ? `in use, warm-up ${describeDay(warmUp)}` : 'in use';
}

function describeDay({ day, days }: WarmUpProgress): string {
  if (days === null) return 'by a curve that does not exist any more, without limit';
  return day > days ? 'complete' : `day ${day} of ${days}`;
}

function describeSuspension({ address, reason, since, until }: ShownSource['suspended'][number]): string {
  return printable(
    `${address} suspended since ${isoTime(since)}: ${reason}; probed again at ${isoTime(until)}`,
  );
}

function formatWarmUps(sources: readonly ShownSource[]): string {
  const tables = sources.flatMap(({ name, warmUp }) => (warmUp ? [formatWarmUp(name, warmUp)] : []));
  return tables.length === 0 ? 'No source is warmed up.' : tables.join('\n\n');
}

function formatWarmUp(name: string, warmUp: WarmUpProgress): string {
  const { curve, startedAt, nextDayAt, providers } = warmUp;
  const rows = providers.map(({ provider, firstAttempts, cap }) => [
    provider,
    String(firstAttempts),
    cap === null ? 'no limit' : String(cap),
  ]);
  return [
    `${name}: curve ${curve}, ${describeDay(warmUp)}, started at ${isoTime(startedAt)}; the next day begins at ${isoTime(nextDayAt)}`,
    formatTable(['provider', 'first attempts today', 'limit today'], rows),
    '(other: all sites of no provider; a provider that is not listed has the same limit for itself)',
  ].join('\n');
}
