/** An export: its progress, and the link to its file. */
import { path } from '../../http/json/calls.ts';
import { Heading } from '../frame/elements.tsx';
import { Refreshed } from '../frame/refreshed.tsx';
import { workName } from '../live/topics.ts';
import { definePage, type TenantContext } from '../page.ts';
import { type Export, ExportResult, isJobRunning } from './results.tsx';

export const exportPage = definePage({
  area: 'tenant',
  path: '/exports/:exportId',
  within: '/audiences',
  async show(context) {
    const { api, texts } = context;
    const job = await api.get<Export>(pathOf(context));
    const isRunning = isJobRunning(job);
    return {
      title: texts.jobs.export,
      isLive: isRunning,
      body: (
        <>
          <Heading title={`${texts.jobs.export}: ${texts.jobs.kinds[job.kind]}`} />
          <Refreshed
            context={context}
            id="export"
            topic={workName(context.at(''), path`/exports/${job.id}`)}
            isRunning={isRunning}
            since={job.createdAt}
          >
            <ExportResult context={context} job={job} file={context.at(path`/exports/${job.id}/file`)} />
          </Refreshed>
        </>
      ),
    };
  },
});

export const exportFilePage = definePage({
  area: 'tenant',
  path: '/exports/:exportId/file',
  async show(context) {
    const { id, kind } = await context.api.get<Export>(pathOf(context));
    const file = await context.api.stream(`${pathOf(context)}/file`);
    return { file: { name: `${kind}-${id}.csv`, ...file } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/exports/${params['exportId'] ?? ''}`;
}
