/** The attempts at a site while they happen. The page begins with what waits for the site, which is all that it shows without scripts. */

import { answerOf, path } from '../../../http/json/calls.ts';
import type { ShownDomain } from '../../../queue/control/admin-api.ts';
import { FilterField, Filters } from '../../frame/lists.tsx';
import { LiveHeading, LiveLines } from '../../live/live-lines.tsx';
import { traceName } from '../../live/topics.ts';
import { definePage } from '../../page.ts';
import { mailPath, type OperatorContext, Refused } from './criteria.tsx';
import { Groups, type QueueStats } from './overview.tsx';
import { QueueTabs } from './tabs.tsx';

/** Number of the domains of a site on the page. */
const SHOWN_DOMAINS = 20;
/** Maximum length of the name of a site, as the trace takes it. */
const MAX_SITE = 1_000;

export const tracePage = definePage({
  area: 'operator',
  path: '/queue/trace',
  async show(context) {
    const { query, texts } = context;
    const { sites } = texts;
    const site = (query.get('site') ?? '').trim().toLowerCase().slice(0, MAX_SITE);
    const title = site === '' ? sites.trace : sites.traceOf(site);
    return {
      title,
      isLive: site !== '',
      body: (
        <>
          <LiveHeading context={context} title={title}>
            {site !== '' && <a href={mailPath({ site })}>{sites.mail}</a>}
          </LiveHeading>
          <QueueTabs context={context} />
          <p>{sites.traceText}</p>
          <Filters context={context}>
            <FilterField context={context} name="site" label={sites.traceSite} />
          </Filters>
          {site !== '' && (
            <>
              <LiveLines
                context={context}
                topic={traceName(site)}
                position={0}
                lines={[]}
                emailPath="/operator/queue/emails/"
                names={sites.events}
                labels={{
                  ...texts.live,
                  lines: sites.lines,
                  from: sites.host,
                  reply: sites.said,
                  none: sites.noLines,
                }}
              />
              <h2>{sites.traceState}</h2>
              <State context={context} stats={await readState(context, site)} />
            </>
          )}
        </>
      ),
    };
  },
});

/** Returns the numbers of a site, which may be named by a domain whose mail was deferred there. */
async function readState({ operator }: OperatorContext, name: string) {
  const { site } = await operator.get<Pick<ShownDomain, 'site'>>(path`/queue/domains/${name}`);
  return answerOf(
    operator.get<QueueStats>('/queue/stats', { by: 'domain', site: site ?? name, limit: SHOWN_DOMAINS }),
  );
}

type StateProps = { context: OperatorContext; stats: Awaited<ReturnType<typeof readState>> };

function State({ context, stats }: StateProps) {
  if (stats instanceof Error) return <Refused context={context} refusal={stats} />;
  return <Groups context={context} by="domain" stats={stats} />;
}
