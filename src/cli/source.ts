/** `postrider source`: shows the addresses from which mail leaves, and warms them up. */
import type { Command } from 'commander';
import type { ShownSources } from '../queue/sources/admin-api.ts';
import type { ShownPool, ShownSource } from '../queue/sources/list.ts';
import type { WarmUpProgress } from '../queue/sources/warm-up/progress.ts';
import { isoTime } from '../system/clock.ts';
import { requestAction, withControl } from './context.ts';
import { formatList, formatTable, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Adds the commands to the program. */
export function addSourceCommands(program: Command, terminal: Terminal): void {
  const source = program
    .command('source')
    .description(
      'Show the sources of outgoing mail, which are the addresses from which it leaves (outbound.sources), and warm them up.',
    );
  source
    .command('list')
    .description('List all sources and pools, and whether a source is suspended, why and until when.')
    .action(
      requestAction<ShownSources>(terminal, {
        request: 'GET /sources',
        text: ({ sources, pools }) =>
          [formatSources(sources), ...(pools.length === 0 ? [] : [formatPools(pools)])].join('\n\n'),
      }),
    );
  addWarmUpCommands(source, terminal);
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
  const rows = sources.map(({ name, addresses, ehlo, proxy, pools, suspended, warmUp }) => [
    name,
    addresses.join(', '),
    ehlo,
    proxy ? `${proxy.kind} ${proxy.address} port ${proxy.port}` : 'this machine',
    pools.join(', '),
    suspended.length === 0 ? describeUse(warmUp) : suspended.map(describeSuspension).join('; '),
  ]);
  const headings = ['name', 'addresses', 'EHLO', 'through', 'pools', 'state'];
  return formatList(headings, rows, 'No sources: mail leaves from the address that the system chooses.');
}

function formatPools(pools: readonly ShownPool[]): string {
  const rows = pools.map(({ name, sources, tenantId, domain, kind }) => [
    name,
    sources.join(', '),
    tenantId ?? 'all',
    domain ?? 'all',
    kind ?? 'all',
  ]);
  return formatTable(['pool', 'sources', 'mail of tenant', 'to domain', 'kind'], rows);
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
  ].join('\n');
}
