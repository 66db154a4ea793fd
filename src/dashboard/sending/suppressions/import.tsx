/** The page of an import of suppressions: its progress, its result, and the file of the rows that were refused. */
import { path } from '../../../http/json/calls.ts';
import { Heading } from '../../frame/elements.tsx';
import { Refreshed } from '../../frame/refreshed.tsx';
import { type Import, ImportResult, isJobRunning } from '../../jobs/results.tsx';
import { workName } from '../../live/topics.ts';
import { definePage, type TenantContext } from '../../page.ts';

export const suppressionImportPage = definePage({
  area: 'tenant',
  path: '/suppressions/imports/:id',
  async show(context) {
    const { suppressions } = context.texts;
    const job = await context.api.get<Import>(pathOf(context));
    const isRunning = isJobRunning(job);
    return {
      title: suppressions.import,
      isLive: isRunning,
      body: (
        <>
          <Heading title={suppressions.import}>
            <a href={context.at('/suppressions/files')}>{suppressions.files}</a>
          </Heading>
          <Refreshed
            context={context}
            id="import"
            topic={workName(context.at(''), path`/imports/${job.id}`)}
            isRunning={isRunning}
            since={job.createdAt}
          >
            <ImportResult context={context} job={job} file={`${context.path}/errors`} />
          </Refreshed>
        </>
      ),
    };
  },
});

/** The file of the rows that were refused. */
export const suppressionImportErrorsPage = definePage({
  area: 'tenant',
  path: '/suppressions/imports/:id/errors',
  async show(context) {
    const { bytes, mediaType } = await context.api.stream(`${pathOf(context)}/errors`);
    return { file: { name: `${context.params['id']}-errors.csv`, mediaType, bytes } };
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/imports/${params['id'] ?? ''}`;
}
