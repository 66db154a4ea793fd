/** The audit log: what people have changed in a tenant, or in the whole installation. */
import type { ComponentChildren } from 'preact';
import type { AuditRow } from '../../db/people-tables.ts';
import { pageRequest } from '../../http/json/page.ts';
import { Foreign, Heading, Status, Time } from '../frame/elements.tsx';
import { Pager, pageQueryOf, Table } from '../frame/lists.tsx';
import { type BaseContext, definePage } from '../page.ts';
import type { Texts } from '../texts/texts.ts';
import type { Values } from './before.tsx';
import { listAudit } from './store.ts';

export const tenantAuditPage = definePage({
  area: 'tenant',
  path: '/audit',
  needs: 'manage',
  menu: { group: 'settings', label: ({ audit }) => audit.title },
  show: (context) => show(context, context.tenant.tenantId),
});

export const operatorAuditPage = definePage({
  area: 'operator',
  path: '/audit',
  menu: { group: 'operating', label: ({ audit }) => audit.title },
  show: (context) => show(context, null),
});

/** Returns the details that the viewer may see: those of a tenant are for its owners, and the operator sees its own ones. */
function detailsFor(viewed: AuditRow['tenantId'], { tenantId, action, details }: AuditRow): string {
  return viewed !== null || tenantId === null || action.startsWith('operator') ? details : '';
}

/** Returns a line for each value that was logged, with what it was before. Counted lines have none. */
function valueLines({ audit }: Texts, details: string): string[] {
  if (details === '') return [];
  const { before = {}, ...after } = JSON.parse(details) as { before?: Values } & Values;
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.map((name) => {
    const value = `${name}: ${after[name] ?? ''}`;
    return before[name] === undefined ? value : `${value} (${audit.before(before[name])})`;
  });
}

/** Returns what an action does in words. A page that is gone has left its path alone. */
function sentenceOf({ audit }: Texts, action: string): ComponentChildren {
  return Object.hasOwn(audit.actions, action) ? audit.actions[action] : <code>{action}</code>;
}

const TONES = { refused: 'neutral', failed: 'bad' } as const;

/** Says how an action has ended, unless it is done. */
function Outcome({ texts: { audit }, outcome }: { texts: Texts; outcome: AuditRow['outcome'] }) {
  if (outcome === 'done' || outcome === 'counted') return null;
  const [tone, text] =
    outcome === null ? (['warning', audit.unknown] as const) : [TONES[outcome], audit[outcome]];
  return (
    <>
      {' '}
      <Status tone={tone}>{text}</Status>
    </>
  );
}

async function show(context: BaseContext, tenantId: AuditRow['tenantId']) {
  const { app, texts, query, formats } = context;
  const page = await listAudit(app.db.read, tenantId, pageRequest(pageQueryOf(query, []), 'adt'));
  const { audit } = texts;
  return {
    title: audit.title,
    body: (
      <>
        <Heading title={audit.title} />
        <Table
          context={context}
          caption={audit.caption}
          rows={page.items}
          keyOf={({ id }) => id}
          columns={[
            { label: audit.at, cell: ({ at }) => <Time context={context} at={at} /> },
            { label: audit.actor, cell: ({ actor }) => <Foreign text={actor} /> },
            { label: audit.from, cell: ({ address }) => address },
            {
              label: audit.action,
              cell: ({ action, mode, times, outcome }) => (
                <>
                  {sentenceOf(texts, action)}
                  {times > 1 && ` × ${formats.number(times)}`}
                  {mode !== null && <small class="muted"> ({texts.frame[mode]})</small>}
                  <Outcome texts={texts} outcome={outcome} />
                </>
              ),
            },
            { label: audit.target, cell: ({ target }) => <Foreign text={target} /> },
            {
              label: audit.details,
              cell: (row) => (
                <>
                  {valueLines(texts, detailsFor(tenantId, row)).map((line) => (
                    <div key={line}>
                      <Foreign text={line} />
                    </div>
                  ))}
                </>
              ),
            },
          ]}
        />
        <Pager context={context} page={{ data: page.items, hasMore: page.hasMore }} />
      </>
    ),
  };
}
