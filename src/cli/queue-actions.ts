/** The commands that change what waits in the queue: they count first, ask, and show how far they have come. */
import type { Command } from 'commander';
import type { ShownAction } from '../queue/control/show.ts';
import { confirm } from './confirm.ts';
import { globalOptions, requestAction, withControl } from './context.ts';
import type { ControlClient } from './control-client.ts';
import { UsageError } from './errors.ts';
import { addCriteria } from './queue-criteria.ts';
import { formatList, printable } from './table.ts';
import type { Terminal } from './terminal.ts';

type Verb = ShownAction['verb'];

type VerbCommand = {
  description: string;
  /** Past participle for the result. */
  done: string;
  /** True when it cannot be undone, so that the command always asks. */
  isFinal?: true;
  hasReason?: true;
};

/** Maximum number of recipients that an action changes without a question, when it can be undone and does not say `--all`. */
const MAX_UNASKED = 10;

const VERBS: Record<Verb, VerbCommand> = {
  retry: { description: 'Try deferred mail again now, whatever its next attempt is.', done: 'Due now' },
  hold: {
    description:
      'Hold mail that waits, and mail that comes later, until it is released. Senders see the reason.',
    done: 'Held',
    hasReason: true,
  },
  release: {
    description:
      'Release held mail, so that it is tried again, and end holds. Mail that crashed the daemon is retried alone, and is held again if it crashes the daemon once more.',
    done: 'Released',
  },
  fail: {
    description: 'End the delivery of mail that waits or is held, as a bounce. Senders see the reason.',
    done: 'Failed',
    isFinal: true,
    hasReason: true,
  },
  cancel: {
    description: 'Cancel mail that waits or is held. Senders see the reason.',
    done: 'Canceled',
    isFinal: true,
    hasReason: true,
  },
  reroute: {
    description: 'Send mail to another host or domain than its MX records name, now and later.',
    done: 'Rerouted',
  },
};

/** Adds the commands to `postrider queue`. */
export function addQueueActions(queue: Command, terminal: Terminal): void {
  for (const [verb, about] of Object.entries(VERBS))
    addVerb(queue, terminal, { verb: verb as Verb, ...about });
  queue
    .command('actions')
    .description('List the holds and reroutes in force, and the newest actions, with how far they have come.')
    .action(
      requestAction<{ actions: ShownAction[] }>(terminal, { request: 'GET /queue/actions', text: table }),
    );
}

type Options = {
  domain?: string;
  site?: string;
  tenant?: string;
  kind?: string;
  class?: string;
  all?: true;
  yes?: true;
  reason?: string;
  to?: string;
  end?: true;
};

function addVerb(queue: Command, terminal: Terminal, { verb, ...about }: VerbCommand & { verb: Verb }): void {
  const command = addCriteria(queue.command(verb).description(about.description))
    .argument('[email]', verb === 'release' ? 'id of an email, or of a hold' : 'id of an email')
    .option('--all', 'all mail, of all tenants')
    .option('--yes', 'do not ask');
  if (about.hasReason) command.option('--reason <text>', 'why; the senders see it');
  if (verb === 'reroute')
    command
      .option('--to <host>', 'host or domain to which the mail goes')
      .option('--end', 'end it: mail goes where its MX records say again');
  command.action((id: string | undefined, options: Options, self: Command) =>
    withControl(self, terminal, async (control, { show }) => {
      const wanted = { verb, ...read(verb, id, options) };
      const { matched } = await control.request<{ matched: number }>('POST', '/queue/count', wanted);
      // A script that changed mail without a question goes on to do so where the change can be undone.
      const isPerson = terminal.interactive && !globalOptions(self).json;
      const isLarge = options.all === true || matched > MAX_UNASKED;
      if (!options.yes && (about.isFinal || (isPerson && isLarge)))
        await confirm(terminal, `${verb} ${recipients(matched)}?`);
      else terminal.complain(`${verb}: ${recipients(matched)}`);
      const made = await control.request<ShownAction>('POST', '/queue/actions', wanted);
      const action = await follow(control, terminal, made);
      show(action, () => resultText(action, about));
    }),
  );
}

function recipients(count: number): string {
  return count === 1 ? '1 recipient' : `${count} recipients`;
}

/** Returns the body of the request. @throws UsageError */
function read(verb: Verb, id: string | undefined, options: Options) {
  const { domain, site, tenant, kind, class: replyClass, all, reason, to, end } = options;
  const criteria = { domain, site, tenant, kind, class: replyClass };
  const isSelected = Object.values(criteria).some((value) => value !== undefined);
  if ([id !== undefined, isSelected, all].filter(Boolean).length !== 1)
    throw new UsageError('give one of these: the id of one email, options that select mail, or --all');
  if (verb === 'reroute' && (to === undefined) === (end === undefined))
    throw new UsageError('give --to HOST or --end');
  const named = id?.startsWith('qa_') ? { hold: id } : { email: id };
  return { ...named, ...criteria, all, reason, target: to };
}

/** Lets the action go on until it has gone through all mail, and shows how far it has come. */
async function follow(control: ControlClient, terminal: Terminal, made: ShownAction): Promise<ShownAction> {
  let action = made;
  while (action.finishedAt === null) {
    action = await control.request<ShownAction>('POST', `/queue/actions/${made.id}/continue`);
    if (action.finishedAt === null)
      terminal.complain(
        `${action.changed} of ${action.matched} (${action.id}; it goes on when you stop this command)`,
      );
  }
  return action;
}

function resultText({ id, verb, changed, matched, isInForce }: ShownAction, { done }: VerbCommand): string {
  const result = `${done}: ${recipients(changed)}`;
  if (verb === 'release' && changed < matched)
    return `${result}; ${matched - changed} stay held, see "postrider queue actions"`;
  if (!isInForce) return result;
  if (verb === 'hold') return `${result}; new mail is held too, until "postrider queue release ${id}"`;
  if (verb === 'reroute')
    return `${result}; new mail is rerouted too, until "postrider queue reroute … --end"`;
  return `${result}; mail that is being sent now follows if it is deferred`;
}

/** Returns the criteria of an action as options. */
export function describeSelection(action: ShownAction): string {
  const { emailId, domain, site, tenantId, kind } = action;
  const options = { domain, site, tenant: tenantId, kind, class: action.class };
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === null ? [] : [`--${name} ${value}`],
  );
  const named = emailId === null ? given : [emailId, ...given];
  return named.length === 0 ? '--all' : named.join(' ');
}

function table({ actions }: { actions: ShownAction[] }): string {
  const rows = actions.map((action) => [
    ...[action.id, action.verb, describeSelection(action), action.target ?? '-'],
    // Whoever made the action may have ended the count before all its mail.
    `${action.changed} of ${Math.max(action.changed, action.matched)}`,
    stateOf(action),
    printable(action.reason ?? ''),
  ]);
  return formatList(['id', 'action', 'mail', 'to', 'changed', 'state', 'reason'], rows, 'No actions.');
}

function stateOf({ finishedAt, isInForce }: ShownAction): string {
  if (finishedAt === null) return 'running';
  return isInForce ? 'in force' : 'ended';
}
