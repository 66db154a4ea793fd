/** `postrider plan`: manages plans, which limit what tenants may send and store, and say how much of it leaves in their turn. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Plan } from '../tenants/admin-schemas.ts';
import { requestAction, withControl } from './context.ts';
import { UsageError } from './errors.ts';
import { formatTable } from './table.ts';
import type { Terminal } from './terminal.ts';

/** A limit on the command line. `none` means no limit, because commander would turn a null into an empty string. */
type Limit = number | 'none';
type Options = { monthlyEmails?: Limit; requestsPerSecond?: Limit; storedMegabytes?: Limit; weight?: number };

/** Adds the commands to the program. */
export function addPlanCommands(program: Command, terminal: Terminal): void {
  const plan = program
    .command('plan')
    .description('Manage plans, which limit how much a tenant may send and store.');
  plan
    .command('list')
    .description('List all plans.')
    .action(requestAction(terminal, { request: 'GET /plans', text: formatPlans }));
  plan
    .command('set')
    .description('Create a plan, or change it. An option that is not given stays as it is.')
    .argument('<name>')
    .option('--monthly-emails <number|none>', 'maximum number of emails per calendar month', readLimit)
    .option('--requests-per-second <number|none>', 'maximum number of API requests per second', readLimit)
    .option(
      '--stored-megabytes <number|none>',
      'maximum size of received mail that is stored (default none)',
      readLimit,
    )
    .option(
      '--weight <number>',
      'messages of a tenant that leave in its turn, 1 to 100 (default 1)',
      readWeight,
    )
    .action((name: string, options: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const plans = await control.request<Plan[]>('GET', '/plans');
        const wanted = merge(
          name,
          plans.find((known) => known.name === name),
          options,
        );
        const saved = await control.request<Plan>('PUT', '/plans', wanted);
        show(saved, () => formatPlans([saved]));
      }),
    );
}

function readLimit(text: string): Limit {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number or "none".');
  return Number(text);
}

/** Returns the number; the daemon refuses one that is too large. */
function readWeight(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number.');
  return Number(text);
}

function merge(name: string, known: Plan | undefined, options: Options): Plan {
  const monthlyEmails = choose(options.monthlyEmails, known?.monthlyEmails);
  const requestsPerSecond = choose(options.requestsPerSecond, known?.requestsPerSecond);
  if (monthlyEmails === undefined || requestsPerSecond === undefined) {
    throw new UsageError(`"${name}" is a new plan: give both --monthly-emails and --requests-per-second`);
  }
  const storedMegabytes = choose(options.storedMegabytes, known?.storedMegabytes) ?? null;
  const weight = options.weight ?? known?.weight ?? 1;
  return { name, monthlyEmails, requestsPerSecond, storedMegabytes, weight };
}

function choose(given: Limit | undefined, known: number | null | undefined): number | null | undefined {
  if (given === undefined) return known;
  return given === 'none' ? null : given;
}

function formatPlans(plans: readonly Plan[]): string {
  const limit = (value: number | null) => (value === null ? 'none' : String(value));
  return formatTable(
    ['name', 'monthly emails', 'requests per second', 'stored megabytes', 'weight'],
    plans.map((plan) => [
      plan.name,
      limit(plan.monthlyEmails),
      limit(plan.requestsPerSecond),
      limit(plan.storedMegabytes),
      String(plan.weight),
    ]),
  );
}
