/** `postrider tenant delete`: deletes a tenant with everything that it owns, and shows what is left. */
import type { Command } from 'commander';
import { sleepInForeground } from '../system/clock.ts';
import type { TenantHoldings } from '../tenant-control/admin-api.ts';
import type { showTenant } from '../tenants/admin-schemas.ts';
import { confirm } from './confirm.ts';
import { withControl } from './context.ts';
import type { ControlClient } from './control-client.ts';
import { CommandError } from './errors.ts';
import type { Terminal } from './terminal.ts';

type Tenant = ReturnType<typeof showTenant>;
type Holdings = NonNullable<TenantHoldings['holdings']>;

/** Time between two looks at what is left, in milliseconds: the first one, and the longest. */
const FIRST_LOOK_MS = 100;
const MAX_LOOK_MS = 2_000;

/** Adds the command to `postrider tenant`. */
export function addTenantDelete(tenant: Command, terminal: Terminal): void {
  tenant
    .command('delete')
    .description(
      'Delete a tenant with everything that it owns: its domains, keys, mail, mailboxes, contacts and all other data. Nothing of it can be brought back but from a backup.',
    )
    .argument('<tenant>', 'id or name of the tenant')
    .option('--yes', 'do not ask')
    .action((named: string, { yes }: { yes?: true }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const holdings = await readHoldings(control, named);
        if (!holdings) throw new CommandError(`There is no tenant "${named}"`);
        if (!yes) await confirm(terminal, `Delete "${named}" with ${describe(holdings)}?`);
        else terminal.complain(`Deleting "${named}" with ${describe(holdings)}`);
        const path = `/tenants/${encodeURIComponent(named)}/deletion`;
        const deleting = await control.request<Tenant>('POST', path);
        const isDeleted = control.isDaemon && (await follow(control, terminal, deleting));
        show({ ...deleting, isDeleted }, () =>
          isDeleted
            ? `Tenant ${deleting.id} "${deleting.name}" was deleted with everything that it owned`
            : `Tenant ${deleting.id} "${deleting.name}" is deleted while the daemon runs, which it does not now; its keys and passwords are refused from now on`,
        );
      }),
    );
}

async function readHoldings(control: ControlClient, named: string): Promise<Holdings | null> {
  const path = `/tenants/${encodeURIComponent(named)}/holdings`;
  return (await control.request<TenantHoldings>('GET', path)).holdings;
}

/** Waits until the tenant is gone, and shows what is left meanwhile. Returns true. */
async function follow(control: ControlClient, terminal: Terminal, { id }: Tenant): Promise<true> {
  let waitMs = FIRST_LOOK_MS;
  for (let shown = ''; ; waitMs = Math.min(2 * waitMs, MAX_LOOK_MS)) {
    const left = await readHoldings(control, id);
    if (!left) return true;
    const text = describe(left);
    if (text !== shown)
      terminal.complain(`${text} left (${id}; the deletion goes on when you stop this command)`);
    shown = text;
    await sleepInForeground(waitMs);
  }
}

const WORDS: Record<keyof Holdings, readonly [one: string, many: string]> = {
  domains: ['domain', 'domains'],
  apiKeys: ['API key', 'API keys'],
  mailboxes: ['mailbox', 'mailboxes'],
  messages: ['email', 'emails'],
  receivedMessages: ['received message', 'received messages'],
  contacts: ['contact', 'contacts'],
  broadcasts: ['broadcast', 'broadcasts'],
  suppressions: ['suppression', 'suppressions'],
};

function describe(holdings: Holdings): string {
  const parts = (Object.keys(WORDS) as (keyof Holdings)[])
    .filter((name) => holdings[name] > 0)
    .map((name) => `${holdings[name]} ${WORDS[name][holdings[name] === 1 ? 0 : 1]}`);
  return parts.length === 0 ? 'no domains, keys or mail' : parts.join(', ');
}
