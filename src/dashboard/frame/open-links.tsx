/** The links that can still be used, each of which can be withdrawn. */
import type { LoginLinkRow } from '../../db/people-tables.ts';
import type { PersonContext } from '../page.ts';
import { Time } from './elements.tsx';
import { ActionButton } from './forms.tsx';
import { Table } from './lists.tsx';

/** Number of links that are shown: the newest, which are the last ones that end. */
const SHOWN = 20;

type Props = { context: PersonContext; links: readonly LoginLinkRow[] };

/** The table. The page has the action `withdraw`. */
export function OpenLinks({ context, links }: Props) {
  const { team, frame } = context.texts;
  return (
    <>
      <Table
        context={context}
        caption={team.open}
        rows={links.slice(0, SHOWN)}
        keyOf={({ id }) => id}
        columns={[
          { label: team.email, cell: ({ email }) => <bdi>{email}</bdi> },
          { label: team.role, cell: (link) => grantText(context, link) },
          { label: team.madeBy, cell: ({ madeBy }) => <bdi>{madeBy}</bdi> },
          { label: team.until, cell: ({ expiresAt }) => <Time context={context} at={expiresAt} /> },
          {
            label: frame.actions,
            cell: ({ id }) => (
              <ActionButton context={context} action="withdraw" submit={team.withdraw} about={{ id }} />
            ),
          },
        ]}
      />
      {links.length > SHOWN && <p class="muted">{team.newestLinks(context.formats.number(SHOWN))}</p>}
    </>
  );
}

function grantText({ texts: { team } }: PersonContext, { kind, role }: LoginLinkRow): string {
  if (kind === 'recovery') return team.recovery;
  return role === null ? team.operator : team.roles[role];
}
