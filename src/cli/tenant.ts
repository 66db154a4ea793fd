/** `postrider tenant`: manages the tenants, each with its own domains, keys and mail. */
import type { Command } from 'commander';
import type { showTenant } from '../tenants/admin-schemas.ts';
import { requestAction, withControl } from './context.ts';
import { formatList } from './table.ts';
import { addTenantDelete } from './tenant-delete.ts';
import type { Terminal } from './terminal.ts';

type Tenant = ReturnType<typeof showTenant>;

/** Adds the commands to the program. */
export function addTenantCommands(program: Command, terminal: Terminal): void {
  const tenant = program
    .command('tenant')
    .description('Manage tenants. Each has its own domains, keys and mail.');
  tenant
    .command('create')
    .description('Create a tenant.')
    .argument('<name>')
    .option('--plan <plan>', 'plan of the tenant, as in "postrider plan list"', 'unlimited')
    .action((name: string, { plan }: { plan: string }, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        const made = await control.request<Tenant>('POST', '/tenants', { name, plan });
        show(made, () => `Tenant ${made.id} "${made.name}" on plan ${made.plan}`);
      }),
    );
  const setPlan = tenant.command('set-plan');
  setPlan
    .description('Change the plan of a tenant. The change takes effect at once.')
    .argument('<tenant>', 'id or name of the tenant')
    .argument('<plan>', 'name of the plan, as in "postrider plan list"')
    .action((who: string, plan: string) =>
      withControl(setPlan, terminal, async (control, { show }) => {
        const moved = await control.request<Tenant>('PATCH', `/tenants/${encodeURIComponent(who)}`, { plan });
        show(moved, () => `Tenant ${moved.id} "${moved.name}" is on plan ${moved.plan}`);
      }),
    );
  addSwitch(tenant, terminal, {
    verb: 'suspend',
    description:
      'Stop everything that a tenant sends, until it is resumed. Its keys are refused, and its mail and broadcasts wait. Mail to its mailboxes still arrives, and people read it.',
    done: 'is suspended: its mail waits, and its keys are refused',
  });
  addSwitch(tenant, terminal, {
    verb: 'resume',
    description: 'Let a suspended tenant send again. What has waited goes on.',
    done: 'is active: what has waited goes on',
  });
  addTenantDelete(tenant, terminal);
  tenant
    .command('list')
    .description('List all tenants.')
    .action(
      requestAction<Tenant[]>(terminal, {
        request: 'GET /tenants',
        text: (tenants) => formatList(HEADINGS, tenants.map(toRow), 'No tenants yet.'),
      }),
    );
}

type Switch = { verb: 'suspend' | 'resume'; description: string; done: string };

function addSwitch(tenant: Command, terminal: Terminal, { verb, description, done }: Switch): void {
  const path = `/tenants/:name/${verb}` as const;
  tenant
    .command(verb)
    .description(description)
    .argument('<tenant>', 'id or name of the tenant')
    .action(
      requestAction<Tenant>(terminal, {
        request: `POST ${path}`,
        text: ({ id, name }) => `Tenant ${id} "${name}" ${done}`,
      }),
    );
}

const HEADINGS = ['id', 'name', 'plan', 'status', 'created'];

function toRow({ id, name, status, plan, createdAt }: Tenant): string[] {
  return [id, name, plan, status, createdAt];
}
