/** The audit log: what people have changed in a tenant, or in the whole installation. */

import type { AuditRow } from '../../db/people-tables.ts';
import { pageRequest } from '../../http/json/page.ts';
import { Foreign, Heading, Time } from '../frame/elements.tsx';
import { Pager, pageQueryOf, Table } from '../frame/lists.tsx';
import { type BaseContext, definePage } from '../page.ts';
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

async function show(context: BaseContext, tenantId: AuditRow['tenantId']) {
  const { app, texts, query } = context;
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
            { label: audit.action, cell: ({ action, mode }) => <code>{`${action} ${mode ?? ''}`}</code> },
            { label: audit.target, cell: ({ target }) => <Foreign text={target} /> },
            { label: audit.details, cell: ({ details }) => <Foreign text={details} /> },
          ]}
        />
        <Pager context={context} page={{ data: page.items, hasMore: page.hasMore }} />
      </>
    ),
  };
}
