/** An import that was started: its progress, its result, and the file of the rows that were refused. */
import { path } from '../../http/json/calls.ts';
import { Heading } from '../frame/elements.tsx';
import { Refreshed } from '../frame/refreshed.tsx';
import { workName } from '../live/topics.ts';
import { definePage, type TenantContext } from '../page.ts';
import { type Import, ImportResult, isJobRunning } from './results.tsx';

export const importPage = definePage({
  area: 'tenant',
  path: '/imports/:importId',
  within: '/audiences',
  async show(context) {
    const { api, texts, at } = context;
    const job = await api.get<Import>(pathOf(context));
    const { audienceId, id } = job;
    if (job.status === 'waiting' && audienceId !== null)
      return { to: at(`/audiences/${audienceId}/import/${id}`) };
    const isRunning = isJobRunning(job);
    return {
      title: texts.jobs.import,
      isLive: isRunning,
      body: (
        <>
          <Heading title={`${texts.jobs.import}: ${texts.jobs.kinds[job.kind]}`}>
            {audienceId !== null && <a href={at(`/audiences/${audienceId}`)}>{texts.jobs.toAudience}</a>}
          </Heading>
          <Refreshed
            context={context}
            id="import"
            topic={workName(context.at(''), path`/imports/${job.id}`)}
            isRunning={isRunning}
            since={job.createdAt}
          >
            <ImportResult context={context} job={job} file={at(`/imports/${id}/errors`)} />
          </Refreshed>
        </>
      ),
    };
  },
});

export const importErrorsPage = definePage({
  area: 'tenant',
  path: '/imports/:importId/errors',
  async show(context) {
    const { id } = await context.api.get<Import>(pathOf(context));
    const file = await context.api.stream(`${pathOf(context)}/errors`);
    return { file: { name: `${id}-errors.csv`, ...file } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/imports/${params['importId'] ?? ''}`;
}
