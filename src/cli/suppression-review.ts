/** `postrider suppression review`: suppressions that bounces have made, and would not make now. */
import type { Command } from 'commander';
import type { SuppressionReview } from '../queue/suppression-review/admin-api.ts';
import { namesIn, readAllPages, withControl } from './context.ts';
import { UsageError } from './errors.ts';
import { formatList } from './table.ts';
import type { NameOf } from './tenant-names.ts';
import type { Terminal } from './terminal.ts';

type Reviewed = SuppressionReview['suppressions'][number];
type Options = { tenant?: string; remove?: string; removeAll?: true };

/** Adds the command to those of suppressions. */
export function addSuppressionReview(suppression: Command, terminal: Terminal): void {
  suppression
    .command('review')
    .description(
      'List suppressions by replies that would not suppress now, or that suppress after repetition of which nothing is stored, the oldest first; and remove them.',
    )
    .option('--tenant <tenant>', 'id or name of a tenant')
    .option('--remove <id>', 'remove one of them')
    .option('--remove-all', 'remove all that are listed, at most 1,000 at once')
    .action(({ tenant, remove, removeAll }: Options, command: Command) =>
      withControl(command, terminal, async (control, { show }) => {
        if (remove !== undefined && removeAll) throw new UsageError('give --remove or --remove-all');
        if (remove === undefined && !removeAll) {
          const query = tenant === undefined ? {} : { tenant };
          const list = { request: 'GET /suppressions/review', name: 'suppressions', query } as const;
          const suppressions = await readAllPages<Reviewed>(control, list);
          const nameOf = await namesIn(suppressions, { command, control });
          show({ suppressions }, () => table(suppressions, nameOf));
          return;
        }
        const body = { ...(tenant !== undefined && { tenant }), ...(remove !== undefined && { id: remove }) };
        const done = await control.request<{ removed: number }>('POST', '/suppressions/review/remove', body);
        show(done, () => `Removed ${done.removed} ${done.removed === 1 ? 'suppression' : 'suppressions'}`);
      }),
    );
}

function table(suppressions: readonly Reviewed[], nameOf: NameOf): string {
  const rows = suppressions.map(
    ({ id, tenantId, email, createdAt, reason, class: class_, row, diagnostic }) => [
      ...[
        id,
        nameOf(tenantId),
        email,
        createdAt,
        reason === 'row' ? 'would not suppress' : 'no evidence is stored',
      ],
      ...[class_, row, diagnostic ?? ''],
    ],
  );
  const heading = ['suppression', 'tenant', 'email', 'created at', 'why', 'class', 'row', 'reply'];
  return formatList(heading, rows, 'No suppression needs a review.');
}
