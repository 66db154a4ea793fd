/** The mail that waits for a domain: how much of it each tenant has, what servers said last, and the actions that apply to it. */

import { path } from '../../../http/json/calls.ts';
import type { ShownDomain } from '../../../queue/control/admin-api.ts';
import { Foreign, Heading } from '../../frame/elements.tsx';
import { Table } from '../../frame/lists.tsx';
import { definePage } from '../../page.ts';
import { ActionTable } from './actions.tsx';
import { changePath, mailPath, type OperatorContext, sitePath, tracePath } from './criteria.tsx';
import { Groups } from './overview.tsx';
import { QueueTabs } from './tabs.tsx';

export const queueDomainPage = definePage({
  area: 'operator',
  path: '/queue/domains/:domain',
  async show(context) {
    const { operator, params, texts } = context;
    const { queue, sites } = texts;
    const shown = await operator.get<ShownDomain>(path`/queue/domains/${params['domain'] ?? ''}`);
    const { domain, actions } = shown;
    const title = sites.ofDomain(domain);
    return {
      title,
      body: (
        <>
          <Heading title={title}>
            <a href={mailPath({ domain })}>{queue.mail}</a>
            <a href={changePath({ domain })}>{sites.changeMail}</a>
          </Heading>
          <QueueTabs context={context} />
          <Site context={context} shown={shown} />
          <Groups context={context} by="tenant" stats={shown} criteria={{ domain }} />
          <h2>{sites.frequentReplies}</h2>
          <Replies context={context} shown={shown} />
          {actions.length > 0 && (
            <>
              <h2>{sites.actionsOnDomain}</h2>
              <ActionTable context={context} actions={actions} />
            </>
          )}
        </>
      ),
    };
  },
});

type Props = { context: OperatorContext; shown: ShownDomain };

/** The site, whose attempts can be watched once it is known. */
function Site({ context, shown: { site } }: Props) {
  const { site: texts, sites } = context.texts;
  return (
    <p>
      {sites.site}: <Foreign text={site ?? sites.notKnown} />{' '}
      {site !== null && (
        <span class="links">
          <a href={sitePath(site)}>{texts.limitsLink}</a> <a href={tracePath(site)}>{sites.trace}</a>
        </span>
      )}
    </p>
  );
}

function Replies({ context, shown: { replies } }: Props) {
  const { queue, sites } = context.texts;
  return (
    <Table
      context={context}
      caption={sites.frequentReplies}
      rows={replies}
      keyOf={({ diagnostic }) => diagnostic}
      empty={sites.noReplies}
      columns={[
        { label: sites.reply, cell: ({ diagnostic }) => <Foreign text={diagnostic} /> },
        {
          label: queue.recipients,
          isNumeric: true,
          cell: ({ recipients }) => context.formats.number(recipients),
        },
      ]}
    />
  );
}
