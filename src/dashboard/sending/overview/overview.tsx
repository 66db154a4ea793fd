/** The first page of a tenant: what needs attention, the numbers of a period, and what was sent last. */
import type { Static } from 'typebox';
import type { emailPageSchema } from '../../../emails/show.ts';
import type { Metrics } from '../../../statistics/schemas.ts';
import { Heading } from '../../frame/elements.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { EmailTable } from '../emails/list.tsx';
import { attentionOf } from './attention.tsx';
import { firstSteps } from './first-steps.tsx';
import { Cards, Charts } from './numbers.tsx';
import { metricsQueryOf, PERIODS, type Period, periodOf } from './period.ts';
import { waitingMail } from './waiting.tsx';

/** Number of emails on the page. */
const RECENT = 10;

export const overviewPage = definePage({
  area: 'tenant',
  path: '',
  menu: { group: 'sending', label: ({ emails }) => emails.overview },
  async show(context) {
    const { api, app, texts, formats } = context;
    const period = periodOf(context.query);
    const range = metricsQueryOf(period, { now: app.clock.now(), timeZone: formats.timeZone });
    const metrics = await api.get<Metrics>('/metrics', range);
    const recent = await api.get<Static<typeof emailPageSchema>>('/emails', { limit: RECENT });
    const isNew = recent.data.length === 0 && metrics.totals.accepted === 0;
    return {
      title: texts.emails.overview,
      hasCharts: !isNew,
      body: (
        <>
          <Heading title={texts.emails.overview}>
            {context.can('write') && <a href={context.at('/send-test')}>{texts.emails.sendTest}</a>}
          </Heading>
          {await attentionOf(context, metrics.totals)}
          {isNew ? (
            await firstSteps(context)
          ) : (
            <>
              <Periods context={context} period={period} />
              <Cards context={context} metrics={metrics} />
              {await waitingMail(context)}
              <Charts context={context} metrics={metrics} />
              <section aria-labelledby="recent">
                <h2 id="recent">{texts.overview.recent}</h2>
                <EmailTable context={context} emails={recent.data} />
              </section>
            </>
          )}
        </>
      ),
    };
  },
});

function Periods({ context, period }: { context: TenantContext; period: Period }) {
  const { overview } = context.texts;
  return (
    <nav class="tabs" aria-label={overview.period}>
      <ul>
        {PERIODS.map((one) => (
          <li key={one}>
            <a href={`?period=${one}`} aria-current={one === period ? 'true' : undefined}>
              {overview.periods[one]}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
