/** Shared parts of the commands: global options, configuration, access to the admin API, and output. */
import type { Command } from 'commander';
import { type Config, loadConfig } from '../config/config.ts';
import type { Continuation } from '../db/continued.ts';
import { confirm } from './confirm.ts';
import type { ControlClient, ControlMethod } from './control-client.ts';
import { explainStartFailure } from './start-failure.ts';
import { findTenantNames, type NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

type Context = {
  terminal: Terminal;
  config: Config;
  /** Prints the value as JSON when `--json` was given, and as `text` otherwise. */
  show(value: unknown, text: () => string): void;
};

type GlobalOptions = { config?: string; json?: true };

/** Returns the options that every command accepts. */
export function globalOptions(command: Command): GlobalOptions {
  return command.optsWithGlobals<GlobalOptions>();
}

/**
 * Returns the context of a command.
 * @throws ConfigError
 */
export function contextOf(command: Command, terminal: Terminal): Context {
  const { config } = globalOptions(command);
  return {
    terminal,
    config: loadConfig({ file: config, env: terminal.env }),
    show: createPrinter(command, terminal),
  };
}

/** Returns a function that prints a value: as JSON with `--json`, otherwise as text. */
export function createPrinter(command: Command, terminal: Terminal): Context['show'] {
  return (value, text) =>
    terminal.print(globalOptions(command).json ? JSON.stringify(value, null, 2) : text());
}

/** Returns the names of the tenants in an answer that is printed as text. With `--json`, nobody asks for them. */
export async function namesIn(
  answer: unknown,
  { command, control }: { command: Command; control: Pick<ControlClient, 'request'> },
): Promise<NameOf> {
  return globalOptions(command).json ? (id) => id : findTenantNames(control, answer);
}

/** How an answer is shown. */
type Showing = {
  /** True when the command has options, which may select a part of what there is. */
  isFiltered: boolean;
  nameOf: NameOf;
};

type Asked<Answer> = {
  /** The method and the path. `:name` stands for the first argument of the command, whose options become the query. */
  request: `${ControlMethod} /${string}`;
  /** Question before something that cannot be undone, which the option `--yes` answers. */
  question?: (name: string) => string;
  text: (answer: Answer, showing: Showing) => string;
};

/** Returns the action of a command that makes one request and shows the answer. */
export function requestAction<Answer>(terminal: Terminal, { request, question, text }: Asked<Answer>) {
  return (...given: unknown[]): Promise<void> => {
    const command = given.at(-1) as Command;
    const name = given.length > 2 ? String(given[0]) : '';
    const { yes, ...options } = command.opts<{ yes?: true }>();
    const [method, path = ''] = request.replace(':name', encodeURIComponent(name)).split(' ');
    const query = new URLSearchParams(options).toString();
    return withControl(command, terminal, async (control, { show }) => {
      if (question && !yes) await confirm(terminal, question(name));
      const url = query === '' ? path : `${path}?${query}`;
      const answer = await control.request<Answer>(method as ControlMethod, url);
      const nameOf = await namesIn(answer, { command, control });
      show(answer, () => text(answer, { isFiltered: query !== '', nameOf }));
    });
  };
}

type List<Item> = {
  /** The request for the list, and the name that its items have in an answer. */
  request: `GET /${string}`;
  name: string;
  /** Returns what is printed as JSON; the items by themselves unless it says otherwise. */
  shown?: (items: readonly Item[]) => unknown;
  text: (items: readonly Item[], showing: Pick<Showing, 'nameOf'>) => string;
};

/** Returns the action of a command that shows a list with all of its pages. */
export function listAction<Item>(
  terminal: Terminal,
  { request, name, shown = (items) => items, text }: List<Item>,
) {
  return (_: object, command: Command): Promise<void> =>
    withControl(command, terminal, async (control, { show }) => {
      const items = await readAllPages<Item>(control, { request, name });
      const nameOf = await namesIn(items, { command, control });
      show(shown(items), () => text(items, { nameOf }));
    });
}

/** Number of items that are asked for at a time. */
const ITEMS_PER_PAGE = 1_000;

type Pages = Continuation & Record<string, unknown>;

/** Returns the items of all pages of a list. */
export async function readAllPages<Item>(
  control: Pick<ControlClient, 'request'>,
  { request, name, query = {} }: Pick<List<Item>, 'request' | 'name'> & { query?: Record<string, string> },
): Promise<Item[]> {
  const path = request.replace(/^GET /, '');
  const items: Item[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const asked = { ...query, limit: String(ITEMS_PER_PAGE), ...(after !== undefined && { after }) };
    const page: Pages = await control.request<Pages>('GET', `${path}?${new URLSearchParams(asked)}`);
    items.push(...(page[name] as Item[]));
    after = page.next;
  }
  return items;
}

/**
 * Runs `use` with the admin API: of the running daemon, or of the database when none is running.
 * @throws CommandError with a message for the operator when the daemon refuses or the database cannot be opened
 */
export async function withControl(
  command: Command,
  terminal: Terminal,
  use: (control: ControlClient, context: Context) => Promise<void>,
): Promise<void> {
  const context = contextOf(command, terminal);
  // This import is deferred because it loads the database code, which takes most of the start-up time of a command.
  const { openControl } = await import('./control-client.ts');
  try {
    const control = await openControl(context.config);
    await use(control, context).finally(() => control.close());
  } catch (error) {
    throw explainStartFailure(error, context.config);
  }
}
