/** The page of an export of suppressions: its progress, and its file. */
import { path } from '../../../http/json/calls.ts';
import { Heading } from '../../frame/elements.tsx';
import { Refreshed } from '../../frame/refreshed.tsx';
import { type Export, ExportResult, isJobRunning } from '../../jobs/results.tsx';
import { workName } from '../../live/topics.ts';
import { definePage, type TenantContext } from '../../page.ts';

export const suppressionExportPage = definePage({
  area: 'tenant',
  path: '/suppressions/exports/:id',
  async show(context) {
    const { suppressions } = context.texts;
    const job = await context.api.get<Export>(pathOf(context));
    const isRunning = isJobRunning(job);
    return {
      title: suppressions.export,
      isLive: isRunning,
      body: (
        <>
          <Heading title={suppressions.export}>
            <a href={context.at('/suppressions/files')}>{suppressions.files}</a>
          </Heading>
          <Refreshed
            context={context}
            id="export"
            topic={workName(context.at(''), path`/exports/${job.id}`)}
            isRunning={isRunning}
            since={job.createdAt}
          >
            <ExportResult context={context} job={job} file={`${context.path}/file`} />
          </Refreshed>
        </>
      ),
    };
  },
});

/** The file of an export. */
export const suppressionExportFilePage = definePage({
  area: 'tenant',
  path: '/suppressions/exports/:id/file',
  async show(context) {
    const { bytes, mediaType } = await context.api.stream(`${pathOf(context)}/file`);
    return { file: { name: 'suppressions.csv', mediaType, bytes } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/exports/${params['id'] ?? ''}`;
}
